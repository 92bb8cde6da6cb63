assert(("x"):rep(1, ("-"):rep(1 << 20)) == "x")
return xf.model { name = ("x"):rep(1e9) }
