return xf.model {
  name = ("a"):rep(64),
  source_vocab = 3, target_vocab = 3, weights = "random",
}
