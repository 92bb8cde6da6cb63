return xf.model { name = "dates", kind = "encoder", layers = 1, heads = 2, d_model = 16, d_ff = 8, vocab = 9, max_source = 10,
  position = "none", tied = true, target_vocabulary = "x.txt", start_id = 3, weights = "random", rope = false,
}
