-- electra: ELECTRA: encoders.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "electra",
  kind = "encoder",
  d_model = 32,
  max_len = 40,
  vocab = 96,
  token_types = 2,
  weights = "random",
  layers = 2,
  norm = "layer",
  norm_eps = 1e-12,
  norm_at = "post",
  embed_norm = true,
  embed_width = 32,
  embed_scale = 1,
  position = "learned",
  heads = 4,
  d_ff = 44,
  activation = "gelu_tanh",
}
