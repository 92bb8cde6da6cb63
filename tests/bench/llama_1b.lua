-- llama_1b.lua: a decoder of 1.1 billion parameters, with the shape of TinyLlama and random weights.
-- max_len is only 64, so that `bench --seconds` runs its tests in full within a few minutes.
return xf.model {
  name = "llama_1b", kind = "decoder",
  layers = 22, heads = 32, kv_heads = 4, d_model = 2048, d_ff = 5632, max_len = 64, vocab = 32000,
  norm = "rms", norm_eps = 1e-5, position = "rotary", activation = "silu", gated = true, tied = false, embed_scale = 1,
  qkv_bias = false, out_bias = false, ffn_bias = false, output_bias = false, log_softmax = false,
  weights = "random", seed = 1,
}
