-- written by make_goldens.py
return xf.model {
  name = "head_dense",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 17,
  d_ff = 13,
  source_vocab = 13,
  max_source = 40,
  pooling = { "mean", "cls" },
  normalize = true,
  head_dim = 4,
  position = "none",
  head = { width = { 33, 18 }, activation = "tanh", norm = { true, false } },
  weights = "head_dense.safetensors",
}
