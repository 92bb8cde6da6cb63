return xf.model { name = "names", kind = "encoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random", max_len = 20,
  pooling = "cls", head = { width = 2 }, labels = { "a", 7 },
}
