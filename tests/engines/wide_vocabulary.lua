-- Matrices of more than one block of rows, and one that threads share, for test_generic.c.
return xf.model {
  name = "wide_vocabulary", kind = "decoder", layers = 1, heads = 4, d_model = 272, d_ff = 1000,
  max_len = 8, vocab = 5001, weights = "random",
}
