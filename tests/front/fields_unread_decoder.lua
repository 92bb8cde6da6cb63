return xf.model { name = "alone", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = 8, vocab = 9, max_target = 10,
  source_vocab = 9, weights = "random", seed = 7, position = "rotary", rope_theta = 500, position_layout = "halves",
  encoder = { layers = 3, gated = true },
}
