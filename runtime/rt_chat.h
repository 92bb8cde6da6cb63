/* rt_chat.h: a text as a chat template wraps it: a system's text, a user's, and the beginning of an answer. */
#ifndef RT_CHAT_H
#define RT_CHAT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* White space that is left out: none; around the user's text; around both texts; around what stands between user[0] and user[1]. */
typedef enum RtChatTrim { RT_CHAT_TRIM_NONE, RT_CHAT_TRIM_USER, RT_CHAT_TRIM_EACH, RT_CHAT_TRIM_TURN } RtChatTrim;

typedef struct RtChat {
    const char *name;               /* of the template */
    const char *begin;
    const char *system[2];          /* before and behind a system's text; NULL: there is no place for one */
    const char *user[2];
    const char *answer;             /* what an answer begins behind */
    const char *preset;             /* the system's text where none is given; NULL: none */
    RtChatTrim trim;
    int inside;                     /* the system's text stands within the user's turn */
} RtChat;

/* The wrapped text of user[bytes] into out[cap], without a NUL. Returns its bytes, also where they are more than cap; then what is
 * written is of no use. system NULL: the preset. */
size_t rt_chat_text(const RtChat *c, const char *system, const char *user, size_t bytes, char *out, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
