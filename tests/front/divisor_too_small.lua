return xf.model {
  name = "t", d_model = 2, heads = 1, position_divisor = "d/2-1",
  source_vocab = 3, target_vocab = 3, weights = "random",
}
