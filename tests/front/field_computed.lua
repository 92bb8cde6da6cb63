local fields = { name = "t", source_vocab = 3, target_vocab = 3, weights = "random" }
fields.d_model = 8
fields.heads = 3
return
  xf.model(fields)
