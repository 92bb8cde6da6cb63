return xf.model { name = "ahead", kind = "encoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random",
  max_len = 20, pooling = { "cls", "mean" }, head = { width = { 32, 3 }, activation = { "tanh", "none" }, bias = { true, false }, norm = { true, false } },
  normalize = true,
}
