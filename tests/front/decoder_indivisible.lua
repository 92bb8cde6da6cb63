-- A decoder alone: what is wrong with it is told by nobody before.
return xf.model {
  name = "small", kind = "decoder", layers = 2, heads = 3, d_model = 128, d_ff = 8, max_target = 8, vocab = 9, weights = "random",
}
