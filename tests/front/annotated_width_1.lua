return xf.model {
  name = "t", d_model = 1, heads = 1, position = "none",
  source_vocab = 3, target_vocab = 3, weights = "random",
}
