return xf.model {
  name = "m", tokenizer = "characters", source_vocabulary = "data/source.txt", weights = "random",
}
