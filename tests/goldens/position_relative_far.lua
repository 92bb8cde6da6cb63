-- written by make_goldens.py
return xf.model {
  name = "position_relative_far",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 5,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 40,
  max_target = 40,
  position = "relative",
  weights = "position_relative_far.safetensors",
}
