return xf.model {
  name = "t", d_model = 1000000, heads = 1e18, source_vocab = 3, target_vocab = 3, weights = "random",
}
