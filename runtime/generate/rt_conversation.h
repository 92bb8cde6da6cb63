/* rt_conversation.h: a conversation turn by turn, and its text by a chat template. */
#ifndef RT_CONVERSATION_H
#define RT_CONVERSATION_H

#include "rt.h"
#include "rt_chat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory is its own; rt_conversation_free frees it. All zero: nobody has said anything. */
typedef struct RtConversation {
    RtChatTurn *turns;  int count, room;    /* copies; of the last one the answer is NULL until it is there */
    char *text;  size_t bytes;              /* room of the text */
    RtChatTyped typed;  int typed_room;     /* what of the last text was said */
    char date[64];                          /* today's, of a template that wants it: of the first text for all that follow */
} RtConversation;

void rt_conversation_free(RtConversation *t);
/* Begin anew. */
void rt_conversation_clear(RtConversation *t);
/* What the user says next. RT_NO_ROOM: no memory, and nothing was said; also of the two below. */
rt_status rt_conversation_say(RtConversation *t, const char *user, size_t bytes);
/* What was answered to it. */
rt_status rt_conversation_answer(RtConversation *t, const char *answer, size_t bytes);
/* It was not answered, and is as if it had not been said; nothing once it was. */
void rt_conversation_drop(RtConversation *t);
/* The text of it all, of turns of which the last is not answered: *text[*n], until the next call. */
rt_status rt_conversation_text(RtConversation *t, const RtChat *c, const RtChatWords *words, const char **text, size_t *n);

#ifdef __cplusplus
}
#endif

#endif
