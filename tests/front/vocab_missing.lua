return xf.model {
  name = "m", weights = "random",
}
