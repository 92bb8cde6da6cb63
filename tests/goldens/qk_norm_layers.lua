-- written by make_goldens.py
return xf.model {
  name = "qk_norm_layers",
  layers = 3,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  qk_norm = { false, true, true },
  position = "rotary",
  head_dim = 6,
  norm = "layer",
  norm_eps = 0.01,
  weights = "qk_norm_layers.safetensors",
}
