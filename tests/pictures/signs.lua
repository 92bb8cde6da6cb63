-- Characters that are special in XML or on a terminal, and stacks that differ in layers and heads.
return xf.model {
  name = "signs", kind = "encoder-decoder",
  d_model = 12, d_ff = 8, max_source = 90, max_target = 6,
  encoder = { layers = 2, heads = 3 }, decoder = { layers = 1, heads = 2 },
  tokenizer = "characters", source_vocabulary = "signs.txt", target_vocabulary = "signs.txt",
  weights = "random", seed = 3,
}
