-- written by make_goldens.py
return xf.model {
  name = "awkward", kind = "encoder-decoder",
  layers = 3, heads = 2, d_model = 14, d_ff = 19,
  source_vocab = 13, target_vocab = 17,
  max_source = 11, max_target = 7,
  weights = "awkward.safetensors",
}
