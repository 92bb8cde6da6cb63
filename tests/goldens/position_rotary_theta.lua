-- written by make_goldens.py
return xf.model {
  name = "position_rotary_theta",
  kind = "decoder",
  layers = 1,
  heads = 1,
  d_model = 12,
  d_ff = 13,
  target_vocab = 17,
  max_target = 21,
  position = "rotary",
  rope_theta = 123.5,
  weights = "position_rotary_theta.safetensors",
}
