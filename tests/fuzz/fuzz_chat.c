/* fuzz_chat.c: any bytes as a chat template. If it is learned, it formats a conversation. */
#include <string.h>

#include "arena.h"
#include "chat_learn.h"
#include "support_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const JinjaName names[] = { { "bos_token", "<s>" }, { "eos_token", "</s>" } };
    static const RtChatWords words = { "be brief", "today" };
    static const RtChatTurn turns[] = { { "hello", 5, " hi ", 4 }, { " how? ", 6, "", 0 } };
    char out[4096];
    Arena *a = arena_new();
    const char *fault = NULL;
    const Chat *chat = chat_learn(a, (const char *)data, size, names, 2, &fault);
    fuzz_expect((chat != NULL) != (fault != NULL && *fault));
    if (chat) {
        const RtChat c = chat_as_runtime(chat);
        const int count = c.past[0] ? 2 : 1;
        const size_t n = rt_chat_text(&c, &words, turns, count, out, sizeof out, NULL);
        fuzz_expect(n >= strlen(c.begin) + strlen(c.user[0]) + strlen(c.user[1]) + strlen(c.answer));
    }
    arena_free(a);
    return 0;
}
