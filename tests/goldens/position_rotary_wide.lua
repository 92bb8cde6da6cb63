-- written by make_goldens.py
return xf.model {
  name = "position_rotary_wide",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 11,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  position = "rotary",
  head_dim = 38,
  value_dim = 5,
  rope_dims = 36,
  weights = "position_rotary_wide.safetensors",
}
