-- written by make_goldens.py
return xf.model {
  name = "parallel_layers",
  kind = "encoder",
  layers = 4,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  parallel = { true, false },
  weights = "parallel_layers.safetensors",
}
