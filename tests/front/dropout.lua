-- Training options are accepted and have no effect.
return xf.model {
  name = "dropout", weights = "random", vocab = 9, max_len = 4, layers = 1, heads = 1, d_model = 4, d_ff = 4,
  dropout = 0.1, attention_dropout = 0.2, encoder = { activation_dropout = 0.3 }, decoder = { embed_dropout = 0 },
}
