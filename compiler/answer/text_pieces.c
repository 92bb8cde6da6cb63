/* text_pieces.c: texts, or pairs of texts, as the ids of a tokenizer's pieces. */
#include "text_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "diag.h"

static rt_status encode(Pieces *p, const RtTokenText *x, const RtTokens *out, int *n)
{
    const size_t longest = x->other_bytes > x->bytes ? x->other_bytes : x->bytes;
    const size_t most = rt_tokenizer_scratch_bytes(p->tokenizer, longest, false);
    if (most == SIZE_MAX) return RT_TOO_LONG;
    for (;;) {
        const rt_status status = rt_tokenizer_encode(p->tokenizer, x, out, n, p->scratch, p->scratch_bytes);
        if (status != RT_NO_ROOM || p->scratch_bytes >= most) return status;
        const size_t more = 4 * p->scratch_bytes + (64 << 10);
        free(p->scratch);
        p->scratch = malloc(p->scratch_bytes = more < most ? more : most);
        if (!p->scratch) die("out of memory: %zu bytes", p->scratch_bytes);
    }
}

static unsigned char *types_of(Pieces *p, int room)
{
    if (room > p->types_room) p->types = realloc(p->types, (size_t)(p->types_room = room));
    if (!p->types) die("out of memory: %d bytes", room);
    return p->types;
}

rt_status pieces_read(Pieces *p, const char *text, size_t bytes, bool pair, bool cut, PieceIds *out)
{
    const char *tab = pair && bytes ? memchr(text, '\t', bytes) : NULL;
    const size_t first = tab ? (size_t)(tab - text) : bytes;
    const RtTokenText x = { .text = text, .bytes = first, .other = tab ? tab + 1 : NULL, .other_bytes = tab ? bytes - first - 1 : 0,
                            .plain = p->plain };
    const RtTokens to = { .ids = out->ids, .types = types_of(p, out->room), .room = out->room };
    if (cut) rt_tokenizer_cut(p->tokenizer, 0);
    rt_status status = encode(p, &x, &to, &out->n);
    out->whole = out->n;
    if (cut && status == RT_TOO_LONG && out->n > out->room) {
        rt_tokenizer_cut(p->tokenizer, out->room);
        status = encode(p, &x, &to, &out->n);
    }
    out->first = 0;
    while (status == RT_OK && out->first < out->n && to.types[out->first] == 0) out->first++;
    return status;
}

void pieces_free(Pieces *p)
{
    free(p->scratch);
    free(p->types);
}
