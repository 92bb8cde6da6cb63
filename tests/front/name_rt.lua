return xf.model {
  name = "rt",
  source_vocab = 3, target_vocab = 3, weights = "random",
}
