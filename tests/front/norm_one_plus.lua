return xf.model {
  name = "beside", kind = "encoder", layers = 1, heads = 2, d_model = 10, d_ff = 13, vocab = 13, max_source = 9, norm = "layer", embed_norm = true,
  qk_norm = true, norm_gain = "one_plus", weights = "../goldens/norm_one_plus.safetensors",
}
