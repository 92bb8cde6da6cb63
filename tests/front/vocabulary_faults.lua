return xf.model {
  name = "t", tokenizer = "characters", weights = "random",
  source_vocabulary = "data/faults.txt", target_vocabulary = "data/source.txt",
}
