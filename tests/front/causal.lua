return xf.model {
  name = "causal", kind = "encoder", layers = 3, heads = 2, d_model = 16, d_ff = 8, max_len = 24, vocab = 9, weights = "random",
  causal = { true, false, true }, window = { 5, 7, 0 }, position = "none", pooling = "lasttoken",
}
