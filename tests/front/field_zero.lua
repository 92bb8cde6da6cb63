return xf.model {
  name = "t", layers = 0, d_ff = -1, source_vocab = 3, target_vocab = 3, weights = "random",
}
