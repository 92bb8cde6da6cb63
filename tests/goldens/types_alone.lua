-- written by make_goldens.py
return xf.model {
  name = "types_alone",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  token_types = 2,
  weights = "types_alone.safetensors",
}
