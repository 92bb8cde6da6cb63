return xf.model {
  name = "m",
  d_model = = 3,
}
