-- written by make_goldens.py
return xf.model {
  name = "kind_encoder_post",
  kind = "encoder",
  layers = 2,
  heads = 2,
  d_model = 10,
  d_ff = 13,
  source_vocab = 13,
  max_source = 9,
  norm_at = "post",
  weights = "kind_encoder_post.safetensors",
}
