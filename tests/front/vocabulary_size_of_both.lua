return xf.model {
  name = "t", tokenizer = "characters", weights = "random", vocab = 7,
  source_vocabulary = "data/source.txt", target_vocabulary = "data/target.txt",
}
