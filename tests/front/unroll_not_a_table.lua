return xf.model {
  name = "tiny", kind = "decoder", vocab = 12, weights = "random",
  unroll = false,
  decoder = { unroll = { layers = true } },
}
