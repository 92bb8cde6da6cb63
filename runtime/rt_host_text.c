/* rt_host_text.c: the tokenizer of a generated program. Its buffers grow with the texts, so they are allocated here. */
#include "rt_host.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rt_tokenizer.h"

struct rt_host_tokenizer { RtTokenizer tokenizer; void *scratch; size_t scratch_bytes; RtTokenStream stream; char *wrapped; size_t wrapped_bytes; };

static rt_host_tokenizer *open_tokenizer(const void *blob, size_t bytes, rt_status *status)
{
    rt_host_tokenizer *t = calloc(1, sizeof *t);
    *status = t ? rt_tokenizer_open(&t->tokenizer, blob, bytes) : RT_NO_ROOM;
    if (*status == RT_OK) return t;
    free(t);
    return NULL;
}

static void close_tokenizer(rt_host_tokenizer *t)
{
    if (t) free(t->scratch), free(t->wrapped);
    free(t);
}

/* Most texts want a small part of the scratch that the longest could need. */
static rt_status to_ids(rt_host_tokenizer *t, const char *text, size_t bytes, int plain, int *ids, int room, int *n)
{
    const RtTokenText x = { text, bytes, NULL, 0, plain };
    const RtTokens out = { ids, NULL, NULL, room };
    const size_t most = rt_tokenizer_scratch_bytes(&t->tokenizer, bytes, 0);
    if (most == SIZE_MAX) return RT_TOO_LONG;
    for (;;) {
        const rt_status status = rt_tokenizer_encode(&t->tokenizer, &x, &out, n, t->scratch, t->scratch_bytes);
        const size_t more = 4 * t->scratch_bytes + 65536;
        if (status != RT_NO_ROOM || t->scratch_bytes >= most) return status;
        free(t->scratch);
        t->scratch_bytes = more < most ? more : most;
        t->scratch = malloc(t->scratch_bytes);
        if (!t->scratch) t->scratch_bytes = 0;
        if (!t->scratch) return RT_NO_ROOM;
    }
}

static rt_status wrap(rt_host_tokenizer *t, const RtChat *chat, const char *system, const char *text, size_t bytes, const char **wrapped, size_t *n)
{
    *n = rt_chat_text(chat, system, text, bytes, t->wrapped, t->wrapped_bytes);
    if (*n > t->wrapped_bytes) {
        free(t->wrapped);
        t->wrapped_bytes = *n;
        t->wrapped = malloc(t->wrapped_bytes);
        if (!t->wrapped) t->wrapped_bytes = 0;
        if (!t->wrapped) return RT_NO_ROOM;
        rt_chat_text(chat, system, text, bytes, t->wrapped, t->wrapped_bytes);
    }
    *wrapped = t->wrapped;
    return RT_OK;
}

static rt_status say(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    rt_host_tokenizer *t = self;
    if (!from) memset(&t->stream, 0, sizeof t->stream);
    return (last ? rt_tokenizer_stream_end : rt_tokenizer_stream)(&t->tokenizer, &t->stream, ids, n, 1, out, cap, used);
}

const rt_host_texts rt_host_text = { open_tokenizer, close_tokenizer, to_ids, wrap, say };
