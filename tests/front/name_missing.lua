return xf.model {
  source_vocab = 3, target_vocab = 3, weights = "random",
}
