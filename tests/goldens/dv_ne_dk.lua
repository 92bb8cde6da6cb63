-- written by make_goldens.py
return xf.model {
  name = "dv_ne_dk", kind = "encoder-decoder",
  layers = 2, heads = 3, d_model = 24, d_ff = 32,
  source_vocab = 13, target_vocab = 17,
  max_source = 12, max_target = 9,
  head_dim = 8,
  value_dim = 10,
  weights = "dv_ne_dk.safetensors",
}
