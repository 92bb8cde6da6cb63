-- gpt.lua: decoder-only: causal self-attention, learned positions, standard layer norm, tied output.
return xf.model {
  name = "gpt", kind = "decoder",
  layers = 4, heads = 4, d_model = 128, d_ff = 512, max_len = 128, vocab = 256,
  norm = "layer", norm_at = "pre", activation = "gelu_tanh", position = "learned", embed_scale = 1,
  tied = true, output_bias = false, log_softmax = false,
  weights = "random", seed = 1,
}
