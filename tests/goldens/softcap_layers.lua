-- written by make_goldens.py
return xf.model {
  name = "softcap_layers",
  kind = "decoder",
  layers = 3,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  attention_softcap = { 0, 0.3 },
  weights = "softcap_layers.safetensors",
}
