-- written by make_goldens.py
return xf.model {
  name = "layers_activation",
  kind = "encoder",
  layers = 10,
  heads = 2,
  d_model = 6,
  d_ff = 9,
  source_vocab = 13,
  max_source = 9,
  gated = { true, false, false },
  activation = { "silu", "relu", "gelu", "gelu_tanh", "quick_gelu", "tanh", "relu2", "sigmoid", "none" },
  weights = "layers_activation.safetensors",
}
