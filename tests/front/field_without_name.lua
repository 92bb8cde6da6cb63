return xf.model {
  name = "tiny", layers = 1, heads = 1, d_model = 2, d_ff = 3, max_len = 5,
  source_vocab = 3, target_vocab = 4, weights = "random",
  "annotated",
}
