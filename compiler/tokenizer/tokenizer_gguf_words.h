/* tokenizer_gguf_words.h: how texts are split into words for the byte-level tokenizer of a GGUF
 * file. */
#ifndef TOKENIZER_GGUF_WORDS_H
#define TOKENIZER_GGUF_WORDS_H

#include "gguf.h"
#include "tokenizer_build.h"

/* Add the steps before the model, for the name in tokenizer.ggml.pre; an unknown name is an error.
 * Returns true if a text begins with the BOS token unless add_bos_token says otherwise. */
bool tok_gguf_words(TokBuild *b, GgufText pre);

#endif
