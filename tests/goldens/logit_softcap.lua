-- written by make_goldens.py
return xf.model {
  name = "logit_softcap",
  kind = "decoder",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  logit_softcap = 0.7,
  logit_scale = 1.5,
  log_softmax = false,
  weights = "logit_softcap.safetensors",
}
