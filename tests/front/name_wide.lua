return xf.model {
  name = --[[ 日付 ]] "dates", ["café"] = 1, source_vocab = 3, target_vocab = 3, weights = "random",
}
