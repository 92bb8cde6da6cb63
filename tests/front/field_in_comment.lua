-- d_model = 1, heads = 1
return xf.model { --[[ d_modl = 2 ]] -- d_modl = 3
  name = "t", -- d_modl = 4
  note = [==[ d_modl = 5 ]==], ["d_modl"] = 6,
  source_vocab = 3, target_vocab = 3, weights = "random",
}
