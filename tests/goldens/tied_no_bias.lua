-- written by make_goldens.py
return xf.model {
  name = "tied_no_bias",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  tied = true,
  output_bias = false,
  weights = "tied_no_bias.safetensors",
}
