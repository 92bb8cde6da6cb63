return xf.model {
  name = "dates\xff",
  source_vocab = 3, target_vocab = 3, weights = "random",
}
