-- copy.lua: a model just large enough to learn to copy its input: two layers, a vocabulary of 11, sequences of ten.
return xf.model {
  name = "copy", kind = "encoder-decoder",
  layers = 2, heads = 8, d_model = 128, d_ff = 512, max_len = 10, vocab = 11,
  norm = "annotated", norm_at = "pre", activation = "relu", position = "sinusoidal",
  weights = "random", seed = 1,
}
