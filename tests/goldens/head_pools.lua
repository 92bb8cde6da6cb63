-- written by make_goldens.py
return xf.model {
  name = "head_pools",
  kind = "encoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  pooling = { "cls", "max", "mean", "mean_sqrt", "weightedmean", "lasttoken" },
  weights = "head_pools.safetensors",
}
