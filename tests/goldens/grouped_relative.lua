-- written by make_goldens.py
return xf.model {
  name = "grouped_relative",
  layers = 1,
  heads = 4,
  d_model = 12,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  position = "relative",
  kv_heads = 2,
  rel_buckets = 6,
  rel_distance = 5,
  weights = "grouped_relative.safetensors",
}
