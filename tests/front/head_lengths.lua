return xf.model { name = "ahead", kind = "encoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random",
  pooling = "mean", head = { width = 15, activation = { "tanh", "none" } },
}
