return xf.model { name = "names", kind = "decoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random", max_len = 20,
  labels = { "a", "b" },
}
