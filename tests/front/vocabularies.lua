return xf.model {
  name = "t", layers = 1, d_model = 2, heads = 1, d_ff = 1, tokenizer = "characters", weights = "random",
  source_vocabulary = "data/source.txt", target_vocabulary = "data/target.txt",
}
