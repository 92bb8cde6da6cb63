-- written by make_goldens.py
return xf.model {
  name = "gated_gelu_tanh_no_bias",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  gated = true,
  activation = "gelu_tanh",
  ffn_bias = false,
  weights = "gated_gelu_tanh_no_bias.safetensors",
}
