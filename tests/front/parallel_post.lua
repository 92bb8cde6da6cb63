return xf.model {
  name = "beside", kind = "decoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  parallel = { true, false }, norm_at = "both",
}
