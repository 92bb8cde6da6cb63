-- brackets.lua: an encoder-only classifier that tells whether brackets of three kinds are balanced.
-- brackets/README.md describes its training.
return xf.model {
  name = "brackets", kind = "encoder",
  layers = 3, heads = 4, d_model = 64, d_ff = 128, max_len = 17, vocab = 8,
  norm = "layer", norm_eps = 1e-12, norm_at = "post", embed_norm = true, activation = "gelu", position = "learned", embed_scale = 1,
  pooling = "cls", head = { width = 2 }, labels = { "unbalanced", "balanced" },
  tokenizer_file = "brackets/tokenizer.json", weights = "brackets/brackets.safetensors",
}
