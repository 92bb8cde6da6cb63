return xf.graph("m")
