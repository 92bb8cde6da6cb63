-- written by make_goldens.py
return xf.model {
  name = "gated_silu",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 35,
  target_vocab = 17,
  max_target = 8,
  gated = true,
  activation = "silu",
  weights = "gated_silu.safetensors",
}
