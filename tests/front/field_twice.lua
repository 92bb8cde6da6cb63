return xf.model {
  name = "tiny", heads = 4, vocab = 9, weights = "random",
  decoder = { layers = 2, ["layers"] = 3 },
  d_model = 8, heads = 2,
}
