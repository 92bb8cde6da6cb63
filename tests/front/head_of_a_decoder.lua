return xf.model { name = "ahead", kind = "decoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random",
  head = { width = 3 },
}
