-- Changes of changes; encoder and decoder merge field by field.
local base = xf.model {
  name = "tiny", layers = 2, heads = { 2, 4 }, d_model = 8, d_ff = 16, max_len = 10, max_target = 7,
  source_vocab = 11, target_vocab = 12, weights = "random", seed = 7,
  encoder = { norm = "layer", norm_at = "post" },
  decoder = { layers = 1, heads = 1 },
}
return base{ decoder = { d_ff = 24, position = "none" } }{ encoder = { norm_at = "pre", embed_scale = 1, head_dim = 3, value_dim = 5 } }
