return xf.model { name = "tiny", vocab = 9, weights = "random", norm_eps = 1e-300 }
