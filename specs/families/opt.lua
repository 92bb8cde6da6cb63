-- opt: OPT.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "opt",
  kind = "decoder",
  d_model = 32,
  max_len = 40,
  vocab = 96,
  tied = true,
  output_bias = false,
  log_softmax = false,
  weights = "random",
  layers = 2,
  norm = "layer",
  norm_eps = 1e-05,
  final_norm = true,
  embed_scale = 1,
  position = "learned",
  heads = 4,
  d_ff = 44,
}
