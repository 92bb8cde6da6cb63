return xf.model { name = "m", weights = "random", vocab = 9, dropout = 1.5 }
