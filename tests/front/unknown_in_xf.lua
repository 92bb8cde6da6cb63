return xf.modle { name = "m" }
