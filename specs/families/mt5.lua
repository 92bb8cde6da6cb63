-- mt5: mT5.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "mt5",
  d_model = 32,
  vocab = 96,
  tied = true,
  output_bias = false,
  log_softmax = false,
  start_id = 0,
  end_id = 1,
  weights = "random",
  norm = "rms",
  norm_eps = 1e-06,
  embed_scale = 1,
  position = "relative",
  rel_buckets = 8,
  rel_distance = 20,
  heads = 3,
  head_dim = 12,
  d_ff = 44,
  attention_scale = 1,
  qkv_bias = false,
  out_bias = false,
  ffn_bias = false,
  gated = true,
  activation = "silu",
  encoder = {
    layers = 2,
  },
  decoder = {
    layers = 2,
  },
}
