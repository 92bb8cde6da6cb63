return xf.model {
  name = "tiny", kind = "decoder", weights = "random", vocab = 3, d_model = 8, layers = 1024,
  heads = 4096, kv_heads = 4096, head_dim = 256, value_dim = 256, max_target = 1048576, position = "none",
}
