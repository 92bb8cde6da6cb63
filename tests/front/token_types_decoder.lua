return xf.model {
  name = "typed", kind = "decoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random",
  token_types = 2,
}
