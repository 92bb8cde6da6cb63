-- written by make_goldens.py
return xf.model {
  name = "stacks_layers",
  layers = 1,
  heads = { 2, 1 },
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  head_dim = 5,
  encoder = { layers = 3, activation = "gelu" },
  decoder = { layers = 2, d_ff = { 9, 14 }, gated = { false, true } },
  weights = "stacks_layers.safetensors",
}
