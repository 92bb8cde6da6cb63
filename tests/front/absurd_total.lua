return xf.model {
  name = "t", d_model = 65536, heads = 4096, head_dim = 65536, layers = 1024,
  source_vocab = 3, target_vocab = 3, weights = "random",
}
