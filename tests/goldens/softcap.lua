-- written by make_goldens.py
return xf.model {
  name = "softcap",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  attention_softcap = 0.5,
  attention_scale = 1.5,
  weights = "softcap.safetensors",
}
