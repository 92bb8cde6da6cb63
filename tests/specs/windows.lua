-- Windows of two widths, a layer without one, normed heads and capped scores: ring-buffer
-- caches, small.
return xf.model {
  name = "windows", kind = "decoder", layers = 4, heads = 4, kv_heads = 2, d_model = 24, head_dim = 5, value_dim = 18, d_ff = 20, max_len = 420,
  vocab = 37, norm = "rms", position = "rotary", rope_dims = 4, window = { 20, 0, 33 }, qk_norm = true, attention_softcap = { 0, 0, 2 },
  embed_scale = 3, log_softmax = false, weights = "random",
}
