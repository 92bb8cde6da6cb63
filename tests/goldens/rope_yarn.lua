-- written by make_goldens.py
return xf.model {
  name = "rope_yarn",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 12,
  d_ff = 13,
  target_vocab = 17,
  max_target = 24,
  position = "rotary",
  head_dim = 16,
  rope_scaling = "yarn",
  rope_original_len = 6,
  rope_factor = 4,
  rope_beta_fast = 2,
  rope_theta = 123.5,
  weights = "rope_yarn.safetensors",
}
