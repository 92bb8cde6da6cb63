return xf.modle { name = "t" }
