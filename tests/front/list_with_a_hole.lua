return xf.model {
  name = "tiny", vocab = 9, weights = "random",
  heads = { [1] = 1, [3] = 2 },
  d_ff = { 8, 9, last = 7 },
  qkv_bias = { [0] = true },
}
