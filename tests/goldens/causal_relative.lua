-- written by make_goldens.py
return xf.model {
  name = "causal_relative",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 24,
  causal = true,
  position = "relative",
  rel_buckets = 7,
  rel_distance = 9,
  pooling = "mean",
  weights = "causal_relative.safetensors",
}
