-- written by make_goldens.py
return xf.model {
  name = "head_one",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  pooling = { "max", "weightedmean" },
  head = { width = 5, activation = "gelu", bias = false },
  weights = "head_one.safetensors",
}
