-- gpt_neox: GPT-NeoX, Pythia.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "gpt_neox",
  kind = "decoder",
  d_model = 32,
  max_len = 48,
  vocab = 96,
  output_bias = false,
  log_softmax = false,
  weights = "random",
  layers = 2,
  norm = "layer",
  norm_eps = 1e-05,
  embed_scale = 1,
  position = "rotary",
  heads = 4,
  d_ff = 44,
  parallel = true,
  rope_dims = 4,
  activation = "gelu",
}
