return xf.model {
  name = "t", d_model = 4, heads = 1, position = "none", embed_norm = true,
  embed_width = 1,
  source_vocab = 3, target_vocab = 3, weights = "random",
}
