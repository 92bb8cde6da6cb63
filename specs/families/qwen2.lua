-- qwen2: Qwen 2 and 2.5.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "qwen2",
  kind = "decoder",
  d_model = 32,
  max_len = 48,
  vocab = 96,
  output_bias = false,
  log_softmax = false,
  weights = "random",
  layers = 2,
  norm = "rms",
  norm_eps = 1e-06,
  embed_scale = 1,
  position = "rotary",
  heads = 4,
  kv_heads = 2,
  d_ff = 44,
  out_bias = false,
  ffn_bias = false,
  gated = true,
  activation = "silu",
}
