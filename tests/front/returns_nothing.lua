xf.model { name = "t" }
