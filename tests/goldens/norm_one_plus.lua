-- written by make_goldens.py
return xf.model {
  name = "norm_one_plus",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  norm_gain = "one_plus",
  embed_norm = true,
  norm = "layer",
  qk_norm = true,
  weights = "norm_one_plus.safetensors",
}
