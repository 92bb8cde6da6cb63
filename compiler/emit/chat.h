/* chat.h: a model's chat template, for the engines and as C. */
#ifndef CHAT_H
#define CHAT_H

#include "model.h"
#include "rt_conversation.h"
#include "text.h"

/* True if the model can chat: it is decoder-only and has a supported template. */
bool model_chats(const Model *m);
/* Remark if, in some conversations, the template does something that xformc does not reproduce. */
void chat_remark(Diag *d, const Model *m);
/* The template of a model that can chat. */
RtChat chat_of(const Model *m);
/* Emit the template as C: the constant MODEL_chat. */
void chat_emit(Text *out, const char *model, const RtChat *c);

#endif
