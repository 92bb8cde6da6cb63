-- written by make_goldens.py
return xf.model {
  name = "rope_layers",
  kind = "decoder",
  layers = 4,
  heads = 2,
  d_model = 12,
  d_ff = 13,
  target_vocab = 17,
  max_target = 24,
  position = "rotary",
  head_dim = 16,
  rope = { true, true, true, false },
  rope_theta = { 10, 1000, 10 },
  rope_dims = { 16, 12 },
  rope_layout = { "halves", "halves", "interleaved" },
  weights = "rope_layers.safetensors",
}
