-- A third-party trained model: Arabic letters to Latin ones. Its weights are in the test data,
-- as transliteration/.
return xf.model {
  name = "transliteration", kind = "encoder-decoder",
  layers = 6, heads = 8, d_model = 32, d_ff = 128, max_source = 64, max_target = 64,
  norm = "layer", norm_eps = 1e-5, norm_at = "pre", activation = "relu",
  position = "sinusoidal", position_layout = "halves", position_divisor = "d/2-1", position_first = 1,
  source_vocab = 51, target_vocab = 43,   -- one more than in the files: an id for unknown characters
  tokenizer = "characters", weights = "transliteration/model.safetensors",
}
