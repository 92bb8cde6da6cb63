-- t5: T5, flan-T5.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "t5",
  d_model = 32,
  vocab = 96,
  tied = true,
  output_bias = false,
  log_softmax = false,
  logit_scale = 0.17677669529663687,
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
  encoder = {
    layers = 2,
  },
  decoder = {
    layers = 1,
  },
}
