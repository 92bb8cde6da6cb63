-- written by make_goldens.py
return xf.model {
  name = "like_nllb",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  norm = "layer",
  position_layout = "halves",
  position_divisor = "d/2-1",
  position_first = 2,
  tied = true,
  output_bias = false,
  weights = "like_nllb.safetensors",
}
