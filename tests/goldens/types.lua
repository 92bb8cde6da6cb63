-- written by make_goldens.py
return xf.model {
  name = "types",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  token_types = 2,
  embed_norm = true,
  weights = "types.safetensors",
}
