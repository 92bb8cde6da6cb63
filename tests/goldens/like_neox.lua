-- written by make_goldens.py
return xf.model {
  name = "like_neox",
  kind = "decoder",
  layers = 2,
  heads = 2,
  d_model = 17,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  head_dim = 8,
  norm = "layer",
  position = "rotary",
  rope_dims = 4,
  activation = "gelu",
  embed_scale = 1,
  output_bias = false,
  weights = "like_neox.safetensors",
}
