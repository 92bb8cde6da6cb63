-- A text model that is quick to build.
return xf.model {
  name = "word", layers = 1, heads = 1, d_model = 4, d_ff = 4, max_source = 4, max_target = 3, weights = "random",
  tokenizer = "characters", source_vocabulary = "source_vocabulary.txt", target_vocabulary = "source_vocabulary.txt",
}
