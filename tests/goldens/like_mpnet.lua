-- written by make_goldens.py
return xf.model {
  name = "like_mpnet",
  kind = "encoder",
  layers = 2,
  heads = 3,
  d_model = 15,
  d_ff = 13,
  source_vocab = 13,
  max_source = 18,
  norm = "layer",
  norm_at = "post",
  position = "relative",
  activation = "gelu",
  embed_norm = true,
  embed_scale = 1,
  weights = "like_mpnet.safetensors",
}
