/* chat_read.h: read the chat template of a tokenizer. */
#ifndef CHAT_READ_H
#define CHAT_READ_H

#include "diag.h"
#include "model.h"

/* Find the template of a model's tokenizer, if it has one, and learn it (chat_learn). A template
 * that is not supported sets chat_fault. False after an error, such as invalid JSON in
 * tokenizer_config.json.
 * needs: tokenizer_data, tokenizer_file, tokenizer_chat   gives: chat or chat_fault, chat_path */
bool model_learn_chat(Arena *a, Diag *d, Model *m);

#endif
