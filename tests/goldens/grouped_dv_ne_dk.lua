-- written by make_goldens.py
return xf.model {
  name = "grouped_dv_ne_dk",
  layers = 1,
  heads = 4,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  kv_heads = 2,
  head_dim = 3,
  value_dim = 5,
  weights = "grouped_dv_ne_dk.safetensors",
}
