return xf.model { name = "dates", kind = "encoder-decoder", layers = 2, heads = 4, d_model = 64, d_ff = 256, max_source = 80, max_target = 12,
  tokenizer = "characters", weights = "../../specs/dates/dates.safetensors", seed = 3, rope_theta = 500,
}
