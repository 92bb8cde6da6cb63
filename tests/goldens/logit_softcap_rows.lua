-- written by make_goldens.py
return xf.model {
  name = "logit_softcap_rows",
  layers = 1,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  target_vocab = 17,
  max_source = 9,
  max_target = 8,
  logit_softcap = 0.7,
  weights = "logit_softcap_rows.safetensors",
}
