return xf.model { name = "turned", kind = "decoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  position = "rotary", rope_scaling = "longrope", rope_short_factor = 4, rope_long_factor = { 1, 0, "2" },
}
