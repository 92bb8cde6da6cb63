return xf.model {
  name = "t", tokenizer = "characters", weights = "random",
  source_vocabulary = "data/not_utf8.txt", target_vocabulary = "data/target.txt",
}
