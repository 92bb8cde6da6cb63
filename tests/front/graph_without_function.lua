return xf.graph("t")
