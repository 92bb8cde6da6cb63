return xf.model {
  name = "beside", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  parallel = true,
}
