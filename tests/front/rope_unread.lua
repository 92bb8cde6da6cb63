return xf.model { name = "turned", kind = "decoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  max_target = 20, position = "rotary", rope_scaling = "linear", rope_factor = 8, rope_original_len = 64, rope_beta_fast = 4,
}
