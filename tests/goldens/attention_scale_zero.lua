-- written by make_goldens.py
return xf.model {
  name = "attention_scale_zero",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  attention_scale = 0,
  weights = "attention_scale_zero.safetensors",
}
