-- written by make_goldens.py
return xf.model {
  name = "logit_scale",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  logit_scale = 0.25,
  weights = "logit_scale.safetensors",
}
