-- written by make_goldens.py
return xf.model {
  name = "activation_gelu_tanh",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 21,
  source_vocab = 13,
  max_source = 9,
  activation = "gelu_tanh",
  weights = "activation_gelu_tanh.safetensors",
}
