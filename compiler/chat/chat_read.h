/* chat_read.h: the chat template of a tokenizer. */
#ifndef CHAT_READ_H
#define CHAT_READ_H

#include "diag.h"
#include "model.h"

/* Find the template of a model's tokenizer, if it has one, and run it on some conversations; false
 * after an error, as of a file beside it that is no JSON.
 * needs: tokenizer_file, tokenizer_chat   gives: chat or chat_fault, chat_path */
bool model_learn_chat(Arena *a, Diag *d, Model *m);

#endif
