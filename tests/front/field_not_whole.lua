return xf.model {
  name = "t", d_model = 64.5, source_vocab = 3, target_vocab = 3, weights = "random",
}
