-- written by make_goldens.py
return xf.model {
  name = "grouped",
  layers = 1,
  heads = 6,
  d_model = 12,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  kv_heads = 2,
  weights = "grouped.safetensors",
}
