return xf.model {
  name = "t", layers = 3, source_vocab = 3, target_vocab = 3, weights = "random",
  heads = { 8, "8", 8.5 },
}
