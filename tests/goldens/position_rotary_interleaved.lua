-- written by make_goldens.py
return xf.model {
  name = "position_rotary_interleaved",
  layers = 1,
  heads = 2,
  d_model = 11,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  position = "rotary",
  head_dim = 6,
  rope_layout = "interleaved",
  weights = "position_rotary_interleaved.safetensors",
}
