return xf.model {
  name = "t",
  d_model = = 3,
}
