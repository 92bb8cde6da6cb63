-- written by make_goldens.py
return xf.model {
  name = "rope_linear",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 12,
  d_ff = 13,
  target_vocab = 17,
  max_target = 24,
  position = "rotary",
  head_dim = 16,
  rope_scaling = "linear",
  rope_factor = 2.5,
  weights = "rope_linear.safetensors",
}
