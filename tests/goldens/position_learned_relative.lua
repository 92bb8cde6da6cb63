-- written by make_goldens.py
return xf.model {
  name = "position_learned_relative",
  layers = 2,
  heads = 3,
  d_model = 9,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 15,
  max_target = 12,
  position = "learned+relative",
  rel_buckets = 8,
  rel_distance = 7,
  weights = "position_learned_relative.safetensors",
}
