-- written by make_goldens.py
return xf.model {
  name = "causal_layers",
  kind = "encoder",
  layers = 4,
  heads = 4,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 40,
  causal = { true, false },
  window = { 5, 3, 0, 0 },
  position = "rotary",
  kv_heads = 2,
  head_dim = 6,
  qk_norm = true,
  pooling = { "lasttoken", "weightedmean" },
  weights = "causal_layers.safetensors",
}
