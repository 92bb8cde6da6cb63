return xf.model {
  name = "t", layers = 1, source_vocab = 3, target_vocab = 3, weights = "random",
  d_ff = {},
}
