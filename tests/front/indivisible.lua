return xf.model {
  name = "t",
  source_vocab = 3, target_vocab = 3, weights = "random",
  d_model = 66,
  heads = 4,
}
