return xf.model { name = "turned", kind = "decoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  max_target = 9, position = "rotary", rope_scaling = "longrope", rope_original_len = 63, rope_short_factor = { 1, 1, 2, 2 },
}
