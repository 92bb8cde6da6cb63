local base = xf.model { name = "t", d_model = 64, heads = 8,
  source_vocab = 3, target_vocab = 3, weights = "random" }
local other = base{ d_model = 66 }{
  head = 5,
}
return other{ heads = "5" }
