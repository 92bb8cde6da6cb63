-- written by make_goldens.py
return xf.model {
  name = "stacks_embedding",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  encoder = { embed_norm = true, embed_scale = 1, position = "learned" },
  decoder = { position = "none" },
  norm = "layer",
  weights = "stacks_embedding.safetensors",
}
