-- dates.lua: a date as people write it -> ISO 8601: "3rd of May 2019" -> "2019-05-03".
-- Trained by specs/dates/train.py on the forms of specs/dates/forms.py; see specs/dates/README.md.
return xf.model {
  name = "dates", kind = "encoder-decoder",
  layers = 2, heads = 4, d_model = 64, d_ff = 256,
  max_source = 80,                -- characters
  max_target = 12,                -- <s>, ten characters, </s>
  norm = "annotated",             -- unbiased std, eps outside the root
  norm_at = "pre",
  activation = "relu",
  position = "sinusoidal",
  tokenizer = "characters",
  weights = "dates/dates.safetensors",
}
