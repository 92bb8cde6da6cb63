/* rt_host_text.c: the tokenizer of a generated program. Its buffers grow with the texts, so they are allocated here. */
#include "rt_host.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rt_tokenizer.h"

struct rt_host_tokenizer { RtTokenizer tokenizer; void *scratch; size_t scratch_bytes; };

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
    if (t) free(t->scratch);
    free(t);
}

/* Most texts want a small part of the scratch that the longest could need. */
static rt_status to_ids(rt_host_tokenizer *t, const char *text, size_t bytes, int *ids, int room, int *n)
{
    const RtTokenText x = { text, bytes, NULL, 0, 0 };
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

static rt_status to_text(rt_host_tokenizer *t, const int *ids, int n, char **text, size_t *cap)
{
    for (;;) {
        size_t used = 0;
        const rt_status status = *text ? rt_tokenizer_decode(&t->tokenizer, ids, n, 1, *text, *cap, &used) : RT_NO_ROOM;
        const size_t more = 2 * *cap + 256;
        if (status != RT_NO_ROOM || more > (size_t)1 << 32) return status;
        char *larger = realloc(*text, more);
        if (!larger) return RT_NO_ROOM;
        *text = larger;
        *cap = more;
    }
}

const rt_host_texts rt_host_text = { open_tokenizer, close_tokenizer, to_ids, to_text };
