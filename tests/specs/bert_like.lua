-- Post-norm, learned positions and a norm on the embedding, small.
return xf.model {
  name = "bert_like", kind = "encoder", layers = 2, heads = 3, d_model = 24, d_ff = 40, max_len = 19, vocab = 31,
  norm = "layer", norm_at = "post", activation = "gelu", position = "learned", embed_norm = true, embed_scale = 1, weights = "random",
}
