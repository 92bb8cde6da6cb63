return xf.model { name = "turned", kind = "decoder", layers = 2, heads = 2, d_model = 16, vocab = 9, weights = "random",
  position = "rotary", rope_scaling = "llama3", rope_factor = 8, rope_original_len = 64, rope_low_freq_factor = 1,
}
