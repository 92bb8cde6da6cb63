/* rt_conversation.c: the turns of a conversation; see rt_conversation.h. */
#include "rt_conversation.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *copy(const char *s, size_t n)
{
    char *out = malloc(n + 1);
    if (!out) return NULL;
    if (n) memcpy(out, s, n);
    out[n] = '\0';
    return out;
}

static void free_last(RtConversation *t)
{
    const RtChatTurn *last = &t->turns[--t->count];
    free((char *)last->user), free((char *)last->answer);
}

void rt_conversation_clear(RtConversation *t)
{
    while (t->count) free_last(t);
}

void rt_conversation_free(RtConversation *t)
{
    rt_conversation_clear(t);
    free(t->turns), free(t->text), free(t->typed.at);
    *t = (RtConversation){ 0 };
}

rt_status rt_conversation_say(RtConversation *t, const char *user, size_t bytes)
{
    if (t->count == t->room) {
        const int room = 2 * t->room + 8;
        RtChatTurn *more = realloc(t->turns, (size_t)room * sizeof *more);
        if (!more) return RT_NO_ROOM;
        t->turns = more, t->room = room;
    }
    char *said = copy(user, bytes);
    if (!said) return RT_NO_ROOM;
    t->turns[t->count++] = (RtChatTurn){ said, bytes, NULL, 0 };
    return RT_OK;
}

rt_status rt_conversation_answer(RtConversation *t, const char *answer, size_t bytes)
{
    RtChatTurn *last = &t->turns[t->count - 1];
    last->answer = copy(answer, bytes);
    last->answer_bytes = bytes;
    if (last->answer) return RT_OK;
    free_last(t);
    return RT_NO_ROOM;
}

void rt_conversation_drop(RtConversation *t)
{
    if (t->count && !t->turns[t->count - 1].answer) free_last(t);
}

static int room_for_typed(RtConversation *t)
{
    const int most = rt_chat_typed_most(t->count);
    if (most <= t->typed_room) return 1;
    free(t->typed.at);
    t->typed.at = malloc(2 * 2 * (size_t)most * sizeof *t->typed.at);
    t->typed_room = t->typed.at ? 2 * most : 0;
    return t->typed.at != NULL;
}

rt_status rt_conversation_text(RtConversation *t, const RtChat *c, const RtChatWords *words, const char **text, size_t *n)
{
    RtChatWords said = *words;
    if (c->today && !said.date) {
        if (!*t->date) rt_chat_today(c, time(NULL), t->date, sizeof t->date);
        said.date = t->date;
    }
    if (!room_for_typed(t)) return RT_NO_ROOM;
    *n = rt_chat_text(c, &said, t->turns, t->count, t->text, t->bytes, &t->typed);
    if (*n > t->bytes) {
        free(t->text);
        t->text = malloc(2 * *n);
        t->bytes = t->text ? 2 * *n : 0;
        if (!t->text) return RT_NO_ROOM;
        rt_chat_text(c, &said, t->turns, t->count, t->text, t->bytes, &t->typed);
    }
    *text = t->text;
    return RT_OK;
}
