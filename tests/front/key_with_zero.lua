return xf.model { name = "tiny", vocab = 9, weights = "random", ["heads\0x"] = 4 }
