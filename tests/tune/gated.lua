-- gated.lua: every form of a linear (gated, added to, with and without bias), with widths that
-- are not multiples of a panel or a cut.
return xf.model {
  name = "gated", kind = "decoder",
  layers = 2, heads = 3, kv_heads = 1, d_model = 72, d_ff = 200, max_len = 120, vocab = 205,
  norm = "rms", activation = "silu", gated = true, position = "rotary", embed_scale = 1,
  qkv_bias = true, out_bias = true, ffn_bias = false, output_bias = false, log_softmax = false,
  weights = "random", seed = 3,
}
