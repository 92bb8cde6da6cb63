-- written by make_goldens.py
return xf.model {
  name = "stacks_norm",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  encoder = { norm = "layer", norm_at = "post" },
  decoder = { norm = "rms" },
  weights = "stacks_norm.safetensors",
}
