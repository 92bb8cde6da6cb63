-- written by make_goldens.py
return xf.model {
  name = "layers_kv_heads",
  kind = "decoder",
  layers = 3,
  heads = 4,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  head_dim = 4,
  kv_heads = { 4, 1, 2 },
  weights = "layers_kv_heads.safetensors",
}
