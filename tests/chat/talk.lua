-- A decoder with random weights and a chat template: it talks nonsense, in turns.
return xf.model {
  name = "talk", kind = "decoder", layers = 2, heads = 4, d_model = 64, d_ff = 128, max_len = 600, position = "rotary", norm = "rms",
  weights = "random", tokenizer_file = "chatml_tools",
  generation = { max_new_tokens = 24, no_repeat_ngram_size = 2, repetition_penalty = 1.3 },
}
