-- A decoder whose weights, even with 8 bits, exceed the cache of one processor: with few rows,
-- threads share the panels.
return xf.model {
  name = "few_rows", kind = "decoder", layers = 2, heads = 4, kv_heads = 2, d_model = 96, d_ff = 9000, max_len = 40, vocab = 67,
  norm = "rms", norm_at = "pre", activation = "silu", gated = true, position = "rotary", qkv_bias = false, out_bias = false, ffn_bias = false,
  tied = true, output_bias = false, log_softmax = false, weights = "random", seed = 11,
}
