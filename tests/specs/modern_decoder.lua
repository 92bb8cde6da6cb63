-- Grouped queries, rotary positions, RMS norm, a gated feed-forward and a tied output, small.
return xf.model {
  name = "modern_decoder", kind = "decoder", layers = 3, heads = 4, kv_heads = 2, d_model = 32, d_ff = 48, max_len = 20, vocab = 37,
  norm = "rms", norm_at = "pre", activation = "silu", gated = true, position = "rotary", qkv_bias = false, out_bias = false, ffn_bias = false,
  tied = true, output_bias = false, log_softmax = false, weights = "random",
}
