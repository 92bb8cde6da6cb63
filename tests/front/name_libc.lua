return xf.model { name = "printf", weights = "random", vocab = 9 }
