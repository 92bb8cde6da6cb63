-- written by make_goldens.py
return xf.model {
  name = "window_both_one",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  window = 1,
  position = "rotary",
  head_dim = 6,
  weights = "window_both_one.safetensors",
}
