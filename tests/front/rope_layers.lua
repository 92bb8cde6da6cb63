return xf.model { name = "turned", kind = "decoder", heads = 2, d_model = 16, vocab = 9, weights = "random",
  max_target = 20, position = "rotary", layers = 5, rope_theta = { 10, 1000 }, rope = { true, true, true, true, false },
  rope_scaling = { "none", "longrope" }, rope_factor = 4, rope_original_len = 64,
  rope_short_factor = { { 1, 1, 2, 2 }, { 1, 1, 2, 4 } },
}
