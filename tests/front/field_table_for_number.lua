return xf.model {
  name = "t", d_model = {1, 2}, norm_eps = { 1e-6 }, weights = "random",
}
