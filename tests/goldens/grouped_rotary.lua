-- written by make_goldens.py
return xf.model {
  name = "grouped_rotary",
  layers = 1,
  heads = 4,
  d_model = 11,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  position = "rotary",
  head_dim = 4,
  kv_heads = 2,
  weights = "grouped_rotary.safetensors",
}
