-- a field of two tables, and of two calls, is no repetition
local base = xf.model { name = "tiny", heads = 4, d_model = 8, d_ff = 3, layers = 1, vocab = 2, weights = "random", encoder = { heads = 2 } }
return base { heads = 1, decoder = { heads = 2 } }
