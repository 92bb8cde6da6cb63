-- written by make_goldens.py
return xf.model {
  name = "stacks_shape",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  encoder = { layers = 2, heads = 5, d_ff = 7 },
  decoder = { layers = 1, heads = 2 },
  weights = "stacks_shape.safetensors",
}
