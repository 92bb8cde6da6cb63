return xf.model { name = "tiny", vocab = 9, weights = "random", activation = "gelu\0" }
