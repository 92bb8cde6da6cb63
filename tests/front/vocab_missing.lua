return xf.model {
  name = "t", weights = "random",
}
