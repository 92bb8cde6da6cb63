-- written by make_goldens.py
return xf.model {
  name = "layers_heads",
  kind = "decoder",
  layers = 3,
  heads = { 1, 3 },
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  head_dim = 5,
  weights = "layers_heads.safetensors",
}
