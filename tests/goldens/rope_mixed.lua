-- written by make_goldens.py
return xf.model {
  name = "rope_mixed",
  layers = 2,
  heads = 2,
  d_model = 12,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 24,
  position = "rotary",
  head_dim = 6,
  encoder = { rope_theta = { 10000, 50 } },
  decoder = { rope_scaling = { "none", "linear" }, rope_factor = 4 },
  weights = "rope_mixed.safetensors",
}
