-- written by make_goldens.py
return xf.model {
  name = "grouped_to_one",
  layers = 1,
  heads = 4,
  d_model = 12,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  kv_heads = 1,
  weights = "grouped_to_one.safetensors",
}
