return xf.model {
  name = "3 dates",
  source_vocab = 3, target_vocab = 3, weights = "random",
}
