/* rt_chat.h: a conversation as a chat template writes it: a system's text, what a user says and what was answered in turn, and the
 * beginning of an answer. */
#ifndef RT_CHAT_H
#define RT_CHAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* White space that is left out: none; around the user's text; around the system's; around both; around
 * what stands between user[0] and user[1]; behind the system's. */
typedef enum RtChatTrim {
    RT_CHAT_TRIM_NONE, RT_CHAT_TRIM_USER, RT_CHAT_TRIM_SYSTEM, RT_CHAT_TRIM_EACH, RT_CHAT_TRIM_TURN,
    RT_CHAT_TRIM_SYSTEM_END
} RtChatTrim;
/* An empty text of a system: as others; none at all; as if it were not given. */
typedef enum RtChatEmpty { RT_CHAT_EMPTY_KEPT, RT_CHAT_EMPTY_NONE, RT_CHAT_EMPTY_PRESET } RtChatEmpty;

/* A byte that stands for the date, and how often it may be in begin and in system. */
#define RT_CHAT_DATE '\1'
enum { RT_CHAT_DATES = 4 };

typedef struct RtChat {
    const char *name;               /* of the template */
    const char *begin;
    const char *system[2];          /* before and behind a system's text; NULL: there is no place for one */
    int dated;                      /* RT_CHAT_DATE in begin, system and preset stands for a date */
    const char *date, *today;       /* where no date is given: this one; else today's, as strftime writes it by `today` */
    const char *user[2];
    const char *answer;             /* what an answer begins behind */
    const char *again;              /* before every turn of the user but the first */
    const char *past[2];            /* around the answer of an earlier turn; NULL: that is not known, and there is one turn only */
    const char *preset;             /* the system's text where none is given; NULL: none */
    RtChatTrim trim;
    RtChatEmpty empty;
    int inside;                     /* the system's text stands within a turn of the user */
    int at_last;                    /* and within the last; else within the first */
    int trims_past;                 /* of an earlier answer is left out: 1 white space around it; 2 the
                                     * line ends that it begins with; 0 nothing */
    int thinks;                     /* of an earlier answer only what follows the last </think> is there: 1
                                     * without the line ends that it begins with, 2 with them; 0: all of it */
    int blank;                      /* a system's text of white space alone is as an empty one */
} RtChat;

/* What the caller says of a conversation; NULL: as the template has it. */
typedef struct RtChatWords { const char *system, *date; } RtChatWords;
/* What a user says, and what was answered; of the last turn the answer is not read. */
typedef struct RtChatTurn { const char *user; size_t user_bytes; const char *answer; size_t answer_bytes; } RtChatTurn;

/* What of a text was said and is not the template's: from byte at[2 * i] to byte at[2 * i + 1]. */
typedef struct RtChatTyped { uint32_t *at; int count; } RtChatTyped;
/* At most so many such ranges. */
static inline int rt_chat_typed_most(int turns) { return 2 * turns + 2 + RT_CHAT_DATES; }

/* The text of turns[count], count >= 1, into out[cap], without a NUL. Returns its bytes, also where they are more than cap; then what is
 * written is of no use. typed: NULL, or room for all ranges, whose count is set. A template with `today` and no date among the words:
 * the caller gives that of rt_chat_today. */
size_t rt_chat_text(const RtChat *c, const RtChatWords *words, const RtChatTurn *turns, int count, char *out, size_t cap,
                    RtChatTyped *typed);
/* The same for one message of a user, with today's date where the template wants one and none is given.
 * typed: NULL, or room for rt_chat_typed_most(1) ranges. */
typedef size_t RtChatMessage(const RtChat *c, const RtChatWords *words, const char *text, size_t bytes, char *out, size_t cap,
                             RtChatTyped *typed);
RtChatMessage rt_chat_message;
/* The local date of `now`, in seconds since 1970, as the template wants today's: out[cap], "" where it does not fit. */
void rt_chat_today(const RtChat *c, int64_t now, char *out, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
