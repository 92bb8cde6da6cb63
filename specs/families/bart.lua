-- bart: BART.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "bart",
  d_model = 32,
  max_len = 40,
  vocab = 96,
  tied = true,
  log_softmax = false,
  start_id = 2,
  weights = "random",
  norm = "layer",
  norm_eps = 1e-05,
  norm_at = "post",
  embed_norm = true,
  embed_scale = 1,
  position = "learned",
  activation = "gelu",
  encoder = {
    layers = 2,
    heads = 4,
    d_ff = 44,
  },
  decoder = {
    layers = 2,
    heads = 2,
    d_ff = 40,
  },
}
