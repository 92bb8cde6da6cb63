-- written by make_goldens.py
return xf.model {
  name = "rope_dynamic",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 12,
  d_ff = 13,
  target_vocab = 17,
  max_target = 24,
  position = "rotary",
  head_dim = 16,
  rope_scaling = "dynamic",
  rope_factor = 3,
  rope_original_len = 24,
  weights = "rope_dynamic.safetensors",
}
