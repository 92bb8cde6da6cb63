-- written by make_goldens.py
return xf.model {
  name = "post_annotated", kind = "encoder-decoder",
  layers = 2, heads = 4, d_model = 16, d_ff = 24,
  source_vocab = 13, target_vocab = 17,
  max_source = 12, max_target = 9,
  norm_at = "post",
  weights = "post_annotated.safetensors",
}
