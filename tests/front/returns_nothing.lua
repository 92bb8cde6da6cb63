xf.model { name = "m" }
