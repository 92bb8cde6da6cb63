return xf.model {
  name = "t", tokenizer = "characters", source_vocabulary = "data/source.txt", weights = "random",
}
