return xf.model {
  name = "slides", kind = "decoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  position = "relative", window = 4,
}
