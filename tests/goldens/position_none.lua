-- written by make_goldens.py
return xf.model {
  name = "position_none",
  layers = 1,
  heads = 3,
  d_model = 9,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  position = "none",
  weights = "position_none.safetensors",
}
