-- A group of fields, and a change that sets one of them by name.
return xf.model {
  name = "tiny", kind = "decoder",
  layers = 2, heads = 2, d_model = 8, d_ff = 12, max_target = 7, target_vocab = 12,
  unroll = { layers = false, factor = 8 },
  weights = "random",
} { unroll_factor = 3 }
