-- written by make_goldens.py
return xf.model {
  name = "window_one",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  window = 1,
  position = "rotary",
  head_dim = 6,
  weights = "window_one.safetensors",
}
