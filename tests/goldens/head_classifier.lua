-- written by make_goldens.py
return xf.model {
  name = "head_classifier",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  pooling = "cls",
  head = { width = { 10, 3 }, activation = { "tanh", "none" } },
  weights = "head_classifier.safetensors",
}
