-- A target cannot begin with an id that is not a token.
return xf.model { name = "small", layers = 1, heads = 1, d_model = 4, d_ff = 4, max_source = 4, max_target = 3, vocab = 5, start_id = 5, weights = "random" }
