-- gpt2: GPT-2, DistilGPT-2.
-- A small model, as `xformc info --lua` prints it, but with random weights.
return xf.model {
  name = "gpt2",
  kind = "decoder",
  d_model = 32,
  max_len = 40,
  vocab = 96,
  tied = true,
  output_bias = false,
  log_softmax = false,
  weights = "random",
  layers = 2,
  norm = "layer",
  norm_eps = 1e-05,
  embed_scale = 1,
  position = "learned",
  heads = 4,
  d_ff = 128,
  attention_scale = 0.35355339059327373,
  activation = "gelu_tanh",
}
