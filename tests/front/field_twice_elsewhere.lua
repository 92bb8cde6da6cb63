-- a field that occurs in two tables or two calls is not given twice
local base = xf.model { name = "tiny", heads = 4, d_model = 8, d_ff = 3, layers = 1, vocab = 2, weights = "random", encoder = { heads = 2 } }
return base { heads = 1, decoder = { heads = 2 } }
