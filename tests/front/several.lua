return xf.model {
  name = "a-b",
  d_modle = 3, layers = "six",
  heads = 0,
	norm_at = "front",
  encoder = { layer = 3, d_model = 4 },
}
