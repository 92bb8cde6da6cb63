-- written by make_goldens.py
return xf.model {
  name = "norm_wide",
  kind = "encoder",
  layers = 1,
  heads = 1,
  d_model = 37,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  head_dim = 3,
  norm = "rms",
  position = "none",
  weights = "norm_wide.safetensors",
}
