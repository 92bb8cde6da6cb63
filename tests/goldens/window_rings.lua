-- written by make_goldens.py
return xf.model {
  name = "window_rings",
  kind = "decoder",
  layers = 4,
  heads = 2,
  d_model = 10,
  d_ff = 9,
  target_vocab = 17,
  max_target = 230,
  window = { 20, 33, 0 },
  position = "rotary",
  head_dim = 4,
  weights = "window_rings.safetensors",
}
