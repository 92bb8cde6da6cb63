-- sums.lua: "123+456=" -> "579": decoder-only, like the Llama family. sums/README.md describes its training.
return xf.model {
  name = "sums", kind = "decoder",
  layers = 3, heads = 4, kv_heads = 2, d_model = 64, d_ff = 160, max_len = 16,
  norm = "rms", norm_at = "pre", activation = "silu", gated = true, position = "rotary", embed_scale = 1,
  qkv_bias = false, out_bias = false, ffn_bias = false,
  tied = true, output_bias = false, log_softmax = false,
  vocab = 15, tokenizer_file = "sums/tokenizer.json", weights = "sums/sums.safetensors",
}
