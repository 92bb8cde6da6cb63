return xf.model {
  name = "slides", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  window = { 4, 0 },
}
