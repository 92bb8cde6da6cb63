return xf.model {
  name = "half", kind = "encoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  position = "relative", causal = { true, false },
}
