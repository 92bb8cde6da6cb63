return xf.model {
  name = "t", d_model = 63, heads = 3,
  source_vocab = 3, target_vocab = 3, weights = "random",
}
