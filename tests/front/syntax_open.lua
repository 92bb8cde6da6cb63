return xf.model {
  name = "t",
