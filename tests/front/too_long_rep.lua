assert(#("x"):rep(1000000):rep(1, ("-"):rep(1000000)) == 1000000)
return xf.model { name = ("x"):rep(1e9) }
