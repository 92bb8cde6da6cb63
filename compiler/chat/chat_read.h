/* chat_read.h: the chat template of a tokenizer. */
#ifndef CHAT_READ_H
#define CHAT_READ_H

#include "tokenizer.h"

/* own: of the tokenizer's file itself. A file beside it that is no JSON is an error.
 * needs: tokenizer_file   gives: chat or chat_fault, chat_path */
void model_read_chat(Arena *a, Diag *d, Model *m, const TokenizerChat *own);

#endif
