local m = xf.model { name = "m" }
return m(3)
