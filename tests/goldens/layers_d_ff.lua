-- written by make_goldens.py
return xf.model {
  name = "layers_d_ff",
  kind = "decoder",
  layers = 3,
  heads = 2,
  d_model = 10,
  d_ff = { 5, 21, 16 },
  target_vocab = 17,
  max_target = 8,
  weights = "layers_d_ff.safetensors",
}
