-- story.lua: a decoder of 260 thousand parameters, with the shape of llama2.c's smallest model and random weights.
return xf.model {
  name = "story", kind = "decoder",
  layers = 5, heads = 8, kv_heads = 4, d_model = 64, d_ff = 172, max_len = 512, vocab = 512,
  norm = "rms", norm_eps = 1e-5, position = "rotary", activation = "silu", gated = true, tied = true, embed_scale = 1,
  qkv_bias = false, out_bias = false, ffn_bias = false, output_bias = false, log_softmax = false,
  weights = "random", seed = 1,
}
