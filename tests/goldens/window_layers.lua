-- written by make_goldens.py
return xf.model {
  name = "window_layers",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 24,
  decoder = { layers = 3, window = { 5, 0, 17 }, attention_softcap = { 0.7, 0 }, heads = 4, kv_heads = 2, head_dim = 3, value_dim = 19 },
  weights = "window_layers.safetensors",
}
