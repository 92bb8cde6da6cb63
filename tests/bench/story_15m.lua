-- story_15m.lua: a decoder of 15 million parameters, with the shape of llama2.c's second-smallest
-- model and random weights.
return xf.model {
  name = "story_15m", kind = "decoder",
  layers = 6, heads = 6, d_model = 288, d_ff = 768, max_len = 512, vocab = 32000,
  norm = "rms", norm_eps = 1e-5, position = "rotary", activation = "silu", gated = true, tied = true, embed_scale = 1,
  qkv_bias = false, out_bias = false, ffn_bias = false, output_bias = false, log_softmax = false,
  weights = "random", seed = 1,
}
