-- marian: Marian: opus-mt.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "marian",
  d_model = 32,
  max_len = 40,
  vocab = 96,
  tied = true,
  log_softmax = false,
  start_id = 95,
  end_id = 0,
  weights = "random",
  norm = "layer",
  norm_eps = 1e-05,
  norm_at = "post",
  embed_scale = 5.656854249492381,
  position_layout = "halves",
  activation = "silu",
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
