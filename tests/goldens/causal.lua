-- written by make_goldens.py
return xf.model {
  name = "causal",
  kind = "encoder",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  causal = true,
  weights = "causal.safetensors",
}
