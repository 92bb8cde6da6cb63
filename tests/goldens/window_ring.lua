-- written by make_goldens.py
return xf.model {
  name = "window_ring",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 9,
  target_vocab = 17,
  max_target = 230,
  window = 7,
  weights = "window_ring.safetensors",
}
