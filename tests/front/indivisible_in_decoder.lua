return xf.model {
  name = "t", d_model = 64, heads = 8,
  source_vocab = 3, target_vocab = 3, weights = "random",
  decoder = { layers = 2, heads = {4, 5} },
}
