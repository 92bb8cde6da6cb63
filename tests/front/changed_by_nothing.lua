local m = xf.model { name = "t" }
return m(3)
