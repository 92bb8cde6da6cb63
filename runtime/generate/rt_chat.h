/* rt_chat.h: a conversation as text, as a chat template writes it: a system prompt, user messages
 * and answers in turn, and the beginning of an answer. */
#ifndef RT_CHAT_H
#define RT_CHAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* White space that is trimmed: none; around user messages; around the system prompt; around both;
 * around everything between user[0] and user[1]; after the system prompt. */
typedef enum RtChatTrim {
    RT_CHAT_TRIM_NONE, RT_CHAT_TRIM_USER, RT_CHAT_TRIM_SYSTEM, RT_CHAT_TRIM_EACH, RT_CHAT_TRIM_TURN,
    RT_CHAT_TRIM_SYSTEM_END
} RtChatTrim;
/* An empty system prompt: is kept; means no system prompt; counts as not given. */
typedef enum RtChatEmpty { RT_CHAT_EMPTY_KEPT, RT_CHAT_EMPTY_NONE, RT_CHAT_EMPTY_PRESET } RtChatEmpty;

/* A byte that stands for the date, and how often begin and system may contain it. */
#define RT_CHAT_DATE '\1'
enum { RT_CHAT_DATES = 4 };

typedef struct RtChat {
    const char *name;               /* of the template */
    const char *begin;
    const char *system[2];          /* before and after the system prompt; NULL: no place for one */
    int dated;                      /* RT_CHAT_DATE in begin, system and preset is a date */
    /* The date if none is given; or, if `today` is not NULL, today's in that strftime format. */
    const char *date, *today;
    const char *user[2];
    const char *answer;             /* the text before an answer */
    const char *again;              /* before every user turn except the first */
    const char *past[2];            /* around an earlier answer; NULL: unknown, so only one turn */
    const char *preset;             /* the system prompt if none is given; NULL: none */
    RtChatTrim trim;
    RtChatEmpty empty;
    int inside;                     /* the system prompt is inside a user turn: */
    int at_last;                    /*   the last one; else the first */
    int trims_past;                 /* trims earlier answers: 1: white space around them;
                                     * 2: newlines at their start; 0: nothing */
    int thinks;                     /* cuts earlier answers to what follows the last </think>:
                                     * 1: without newlines at its start; 2: with them; 0: no cut */
    int blank;                      /* a system prompt of only white space counts as empty */
} RtChat;

/* The caller's system prompt and date; NULL: the template's own. */
typedef struct RtChatWords { const char *system, *date; } RtChatWords;
/* A user message and the answer to it. The answer of the last turn is not read. */
typedef struct RtChatTurn { const char *user; size_t user_bytes; const char *answer; size_t answer_bytes; } RtChatTurn;

/* The parts of a text that are prompts, messages, answers or dates, not the template's own text:
 * from byte at[2 * i] to byte at[2 * i + 1]. */
typedef struct RtChatTyped { uint32_t *at; int count; } RtChatTyped;
/* The maximum number of ranges in a text of `turns` turns. */
static inline int rt_chat_typed_most(int turns) { return 2 * turns + 2 + RT_CHAT_DATES; }

/* Write the text of turns[count], count >= 1, to out[cap], without a NUL. Returns its length in
 * bytes; if that is more than cap, the content of out is unspecified. typed: NULL, or room for all
 * ranges; receives them and their count. For a template with `today`, if words has no date, the
 * caller passes the one from rt_chat_today. */
size_t rt_chat_text(const RtChat *c, const RtChatWords *words, const RtChatTurn *turns, int count, char *out, size_t cap,
                    RtChatTyped *typed);
/* Like rt_chat_text for one user message, with today's date if the template has `today` and no date
 * is given. typed: NULL, or room for rt_chat_typed_most(1) ranges. */
typedef size_t RtChatMessage(const RtChat *c, const RtChatWords *words, const char *text, size_t bytes, char *out, size_t cap,
                             RtChatTyped *typed);
RtChatMessage rt_chat_message;
/* Write the local date of `now`, in seconds since 1970, to out[cap], in the template's format; ""
 * if the date cannot be computed or does not fit. */
void rt_chat_today(const RtChat *c, int64_t now, char *out, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
