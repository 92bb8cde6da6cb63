return xf.model {
  name = "tiny", tokenizer = "characters",
  weights = "nowhere/tiny.safetensors",
}
