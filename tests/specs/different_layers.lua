-- Stacks that differ in depth, norm, heads and positions, and layers that differ in d_ff:
-- several blocks per stack.
return xf.model {
  name = "different_layers", kind = "encoder-decoder",
  d_model = 24, max_source = 9, max_target = 20, source_vocab = 11, target_vocab = 18,
  encoder = { layers = 5, heads = 4, d_ff = { 40, 40, 17 }, norm = "layer", norm_at = "post", position_layout = "halves" },
  decoder = { layers = 3, heads = { 3, 2 }, d_ff = 31, value_dim = 5, norm = "annotated", position = "none" },
  log_softmax = false, weights = "random", seed = 7,
}
