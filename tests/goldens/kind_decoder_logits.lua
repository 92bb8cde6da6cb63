-- written by make_goldens.py
return xf.model {
  name = "kind_decoder_logits",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  log_softmax = false,
  weights = "kind_decoder_logits.safetensors",
}
