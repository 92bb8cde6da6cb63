return xf.model {
  name = "beside", kind = "encoder", layers = 1, heads = 2, d_model = 16, vocab = 9, weights = "random",
  logit_softcap = 30, logit_scale = 0.5, norm_gain = "one_plus", norm_at = "both", qk_norm = true,
}
