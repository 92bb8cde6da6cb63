-- written by make_goldens.py
return xf.model {
  name = "window",
  kind = "decoder",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  window = 3,
  weights = "window.safetensors",
}
