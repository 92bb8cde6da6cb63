return xf.model {
  name = "m", tokenizer = "characters", weights = "random",
  source_vocabulary = "data/faults.txt", target_vocabulary = "data/source.txt",
}
