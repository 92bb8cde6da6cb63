-- written by make_goldens.py
return xf.model {
  name = "position_relative_odd",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 19,
  max_target = 18,
  position = "relative",
  rel_buckets = 7,
  rel_distance = 9,
  weights = "position_relative_odd.safetensors",
}
