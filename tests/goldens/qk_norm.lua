-- written by make_goldens.py
return xf.model {
  name = "qk_norm",
  kind = "decoder",
  layers = 1,
  heads = 4,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  qk_norm = true,
  kv_heads = 2,
  head_dim = 5,
  weights = "qk_norm.safetensors",
}
