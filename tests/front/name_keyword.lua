return xf.model {
  name = "register",
  source_vocab = 3, target_vocab = 3, weights = "random",
}
