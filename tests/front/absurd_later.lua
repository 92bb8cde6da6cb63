return xf.model {
  name = "m", max_source = 2000000, source_vocab = 99999999, target_vocab = 3,
}
