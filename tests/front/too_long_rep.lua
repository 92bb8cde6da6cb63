return xf.model { name = ("x"):rep(1e9) }
