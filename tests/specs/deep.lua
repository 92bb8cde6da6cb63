-- Too many layers to write out call by call: a loop.
return xf.model {
  name = "deep", kind = "encoder-decoder", layers = 17, heads = 2, d_model = 16, d_ff = 5,
  max_source = 4, max_target = 4, source_vocab = 6, target_vocab = 5, weights = "random",
}
