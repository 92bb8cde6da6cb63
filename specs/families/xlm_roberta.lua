-- xlm-roberta: XLM-R, multilingual e5, bge-m3: encoders.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "xlm_roberta",
  kind = "encoder",
  d_model = 32,
  max_len = 38,
  vocab = 96,
  pad_id = 1,
  weights = "random",
  layers = 2,
  norm = "layer",
  norm_eps = 1e-05,
  norm_at = "post",
  embed_norm = true,
  embed_scale = 1,
  position = "learned",
  heads = 4,
  d_ff = 44,
  activation = "silu",
}
