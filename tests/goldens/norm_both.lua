-- written by make_goldens.py
return xf.model {
  name = "norm_both",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  norm_at = "both",
  weights = "norm_both.safetensors",
}
