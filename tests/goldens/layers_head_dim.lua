-- written by make_goldens.py
return xf.model {
  name = "layers_head_dim",
  kind = "decoder",
  layers = 4,
  heads = { 2, 2, 3 },
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  head_dim = { 6, 4 },
  value_dim = { 3, 8, 5 },
  position = "rotary",
  rope_dims = 4,
  weights = "layers_head_dim.safetensors",
}
