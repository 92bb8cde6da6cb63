-- mpnet: MPNet, all-mpnet-base: encoders.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "mpnet",
  kind = "encoder",
  d_model = 32,
  max_len = 158,
  vocab = 96,
  pad_id = 1,
  weights = "random",
  layers = 2,
  norm = "layer",
  norm_eps = 1e-12,
  norm_at = "post",
  embed_norm = true,
  embed_scale = 1,
  position = "learned+relative",
  heads = 4,
  d_ff = 44,
  activation = "gelu",
}
