/* chat_learn.h: a chat template as the texts around what is said. */
#ifndef CHAT_LEARN_H
#define CHAT_LEARN_H

#include "jinja.h"
#include "model.h"
#include "rt_chat.h"

/* What the template makes of conversations; names: its variables, as bos_token. NULL, and why in
 * *fault, where it has a form that a Chat cannot have. */
Chat *chat_learn(Arena *a, const char *text, size_t bytes, const JinjaName *names, int count,
                 const char **fault);

/* The same for the runtime; texts are shared. */
RtChat chat_as_runtime(const Chat *c);

#endif
