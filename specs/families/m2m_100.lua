-- m2m_100: M2M100, NLLB-200.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "m2m_100",
  d_model = 32,
  max_len = 40,
  vocab = 96,
  tied = true,
  output_bias = false,
  log_softmax = false,
  start_id = 2,
  pad_id = 1,
  weights = "random",
  norm = "layer",
  norm_eps = 1e-05,
  embed_scale = 5.656854249492381,
  position_layout = "halves",
  position_divisor = "d/2-1",
  position_first = 2,
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
