-- encoder.lua: encoder-only: every token sees every other; the result is one hidden state per token.
return xf.model {
  name = "encoder", kind = "encoder",
  layers = 4, heads = 4, d_model = 128, d_ff = 512, max_len = 128, vocab = 256,
  norm = "layer", norm_eps = 1e-12, norm_at = "post", embed_norm = true, activation = "gelu", position = "learned", embed_scale = 1,
  weights = "random", seed = 1,
}
