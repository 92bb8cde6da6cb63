-- A decoder-only model: no earlier check reports its fault.
return xf.model {
  name = "small", kind = "decoder", layers = 2, heads = 3, d_model = 128, d_ff = 8, max_target = 8, vocab = 9, weights = "random",
}
