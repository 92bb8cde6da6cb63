return xf.model {
  name = "tiny", kind = "decoder", vocab = 12, weights = "random",
  unroll = { layrs = true, factor = 65, layers = 1 },
}
