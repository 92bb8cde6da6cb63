/* tokenizer_gguf_words.h: how the text of a byte-level GGUF file is split into words. */
#ifndef TOKENIZER_GGUF_WORDS_H
#define TOKENIZER_GGUF_WORDS_H

#include "gguf.h"
#include "tokenizer_build.h"

/* The steps before its model, by the name in tokenizer.ggml.pre; an unknown one is refused. Whether a text begins with the
 * first token, where no key says it. */
bool tok_gguf_words(TokBuild *b, GgufText pre);

#endif
