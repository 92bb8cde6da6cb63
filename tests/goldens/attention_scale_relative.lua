-- written by make_goldens.py
return xf.model {
  name = "attention_scale_relative",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  attention_scale = 0.5,
  position = "relative",
  rel_buckets = 4,
  rel_distance = 3,
  weights = "attention_scale_relative.safetensors",
}
