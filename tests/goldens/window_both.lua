-- written by make_goldens.py
return xf.model {
  name = "window_both",
  kind = "encoder",
  layers = 3,
  heads = 4,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 40,
  window = { 5, 0, 17 },
  attention_softcap = { 0.7, 0 },
  kv_heads = 2,
  head_dim = 3,
  value_dim = 19,
  pooling = "max",
  weights = "window_both.safetensors",
}
