return xf.model {
  name = "dates\0",
  weights = "", source_vocab = 3, target_vocab = 3,
}
