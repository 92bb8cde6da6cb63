-- written by make_goldens.py
return xf.model {
  name = "like_bert",
  kind = "encoder",
  layers = 2,
  heads = 3,
  d_model = 15,
  d_ff = 28,
  source_vocab = 13,
  max_source = 9,
  norm = "layer",
  norm_at = "post",
  position = "learned",
  activation = "gelu",
  embed_norm = true,
  norm_eps = 1e-12,
  embed_scale = 1,
  weights = "like_bert.safetensors",
}
