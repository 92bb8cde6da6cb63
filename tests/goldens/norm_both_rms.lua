-- written by make_goldens.py
return xf.model {
  name = "norm_both_rms",
  kind = "decoder",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  target_vocab = 17,
  max_target = 8,
  norm_at = "both",
  norm = "rms",
  weights = "norm_both_rms.safetensors",
}
