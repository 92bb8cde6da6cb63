-- Relative positions, RMS norm and a gated feed-forward, small.
return xf.model {
  name = "t5_like", kind = "encoder-decoder", layers = 2, heads = 3, head_dim = 5, d_model = 24, d_ff = 40, max_len = 19, vocab = 31,
  norm = "rms", norm_at = "pre", activation = "gelu_tanh", gated = true, position = "relative", rel_buckets = 8, rel_distance = 12, embed_scale = 1, qkv_bias=false, weights = "random",
}
