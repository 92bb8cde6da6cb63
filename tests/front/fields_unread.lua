-- Each field that has no effect on this model gets one note, with its place; fields that one stack reads get none.
local base = xf.model { name = "both", kind = "encoder-decoder", layers = 2, heads = 2, d_model = 16, d_ff = 8, vocab = 9, max_len = 10,
  weights = "random", source_vocabulary = "x.txt", rel_buckets = 8,
  encoder = { position = "rotary", rope_theta = 500, position_first = 1 },
  decoder = { rope_theta = { 100, 200 }, position_layout = "halves" },
}
return base{ position_divisor = "d/2-1" }
