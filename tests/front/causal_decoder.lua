return xf.model {
  name = "twice", kind = "decoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random", causal = true,
}
