-- written by make_goldens.py
return xf.model {
  name = "like_gpt2",
  kind = "decoder",
  layers = 2,
  heads = 3,
  d_model = 21,
  d_ff = 30,
  target_vocab = 31,
  max_target = 11,
  norm = "layer",
  position = "learned",
  activation = "gelu_tanh",
  embed_scale = 1,
  tied = true,
  output_bias = false,
  weights = "like_gpt2.safetensors",
}
