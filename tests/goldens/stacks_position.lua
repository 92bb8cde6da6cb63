-- written by make_goldens.py
return xf.model {
  name = "stacks_position",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  encoder = { position = "relative", rel_buckets = 10, rel_distance = 8 },
  decoder = { position = "rotary", head_dim = 4 },
  weights = "stacks_position.safetensors",
}
