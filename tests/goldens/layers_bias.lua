-- written by make_goldens.py
return xf.model {
  name = "layers_bias",
  kind = "decoder",
  layers = 4,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  qkv_bias = { true, false },
  out_bias = { false, true, true },
  ffn_bias = { true, false, false },
  weights = "layers_bias.safetensors",
}
