-- base.lua: the base model of "Attention Is All You Need" as The Annotated Transformer builds it, with vocabularies of 11.
-- It has 44,157,451 parameters.
return xf.model {
  name = "base", kind = "encoder-decoder",
  layers = 6, heads = 8, d_model = 512, d_ff = 2048, max_len = 512, vocab = 11,
  norm = "annotated", norm_at = "pre", activation = "relu", position = "sinusoidal",
  weights = "random", seed = 1,
}
