-- written by make_goldens.py
return xf.model {
  name = "head_tokens",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 30,
  head = { width = 4 },
  weights = "head_tokens.safetensors",
}
