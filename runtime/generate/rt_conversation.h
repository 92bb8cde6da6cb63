/* rt_conversation.h: a conversation turn by turn, and its text as a chat template writes it. */
#ifndef RT_CONVERSATION_H
#define RT_CONVERSATION_H

#include "rt.h"
#include "rt_chat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Owns its memory; rt_conversation_free frees it. All zero: an empty conversation. */
typedef struct RtConversation {
    RtChatTurn *turns;  int count, room;    /* copies; the last answer is NULL until it is added */
    char *text;  size_t bytes;              /* size of the buffer */
    RtChatTyped typed;  int typed_room;     /* ranges of the last text */
    char date[64];                          /* of the day when the first text was made, if the template needs it */
} RtConversation;

void rt_conversation_free(RtConversation *t);
/* Remove all turns. */
void rt_conversation_clear(RtConversation *t);
/* Add a user message. RT_NO_ROOM: no memory; the message is not added. */
rt_status rt_conversation_say(RtConversation *t, const char *user, size_t bytes);
/* Add the answer to the last message. RT_NO_ROOM: no memory; the message is removed. */
rt_status rt_conversation_answer(RtConversation *t, const char *answer, size_t bytes);
/* Remove the last message if it has no answer. */
void rt_conversation_drop(RtConversation *t);
/* The text of the conversation, whose last message has no answer: (*text)[*n], valid until the next
 * call. RT_NO_ROOM: no memory; the turns are unchanged. */
rt_status rt_conversation_text(RtConversation *t, const RtChat *c, const RtChatWords *words, const char **text, size_t *n);

#ifdef __cplusplus
}
#endif

#endif
