return xf.model {
  name = "t", max_source = 2000000, source_vocab = 99999999, target_vocab = 3,
}
