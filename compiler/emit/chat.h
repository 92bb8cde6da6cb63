/* chat.h: a model's chat template, for the engines and as C. */
#ifndef CHAT_H
#define CHAT_H

#include "model.h"
#include "rt_conversation.h"
#include "text.h"

/* Whether the model can chat: a decoder alone that has a template. */
bool model_chats(const Model *m);
/* Note what the template does and is not followed. */
void chat_remark(Diag *d, const Model *m);
/* Its template; of a model that chats. */
RtChat chat_of(const Model *m);
/* The same as C: the constant MODEL_chat. */
void chat_emit(Text *out, const char *model, const RtChat *c);

#endif
