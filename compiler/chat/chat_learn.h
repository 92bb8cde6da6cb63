/* chat_learn.h: convert a chat template to a Chat: the fixed texts around the messages. */
#ifndef CHAT_LEARN_H
#define CHAT_LEARN_H

#include "jinja.h"
#include "model.h"
#include "rt_chat.h"

/* Learn a template by rendering sample conversations. names[count]: its variables, such as
 * bos_token. NULL if the template cannot be run or a Chat cannot represent it; *fault says why. */
Chat *chat_learn(Arena *a, const char *text, size_t bytes, const JinjaName *names, int count,
                 const char **fault);

/* The Chat in the runtime's form; the strings are shared. */
RtChat chat_as_runtime(const Chat *c);

#endif
