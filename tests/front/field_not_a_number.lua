return xf.model {
  name = "t", d_model = 0/0, norm_eps = 1/0, source_vocab = 3, target_vocab = 3, weights = "random",
}
