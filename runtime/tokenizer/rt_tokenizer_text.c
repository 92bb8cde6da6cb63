/* rt_tokenizer_text.c: tries, characters, texts in scratch, and adding an id. */
#include "rt_tokenizer_parts.h"

uint32_t rt_tok_walk(const RtTokenizer *t, RtTokSection trie, uint32_t state, const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < n && state != RT_TOK_NONE; i++) state = rt_tok_step(t, trie, state, s[i]);
    return state;
}

uint32_t rt_tok_find(const RtTokenizer *t, RtTokSection trie, const unsigned char *s, size_t n)
{
    if (!t->bytes[trie]) return RT_TOK_NONE;
    const uint32_t state = rt_tok_walk(t, trie, 0, s, n);
    return state == RT_TOK_NONE ? RT_TOK_NONE : rt_tok_value(t, trie, state);
}

/* ---- characters ------------------------------------------------------------------------------------------ */

/* The length of a character with this first byte, and the limits of its second byte; 0 if no
 * character begins with it. */
static int shape(unsigned first, unsigned *low, unsigned *high)
{
    *low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    *high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

int rt_tok_broken(const unsigned char *s, size_t n)
{
    unsigned low, high;
    const int length = shape(s[0], &low, &high);
    if (!length) return 1;
    for (int i = 1; i < length; i++) {
        if ((size_t)i >= n || s[i] < low || s[i] > high) return i;
        low = 0x80;
        high = 0xBF;
    }
    return 0;
}

int rt_tok_character(const unsigned char *s, size_t n, int32_t *c)
{
    if (s[0] < 0x80) {
        *c = s[0];
        return 1;
    }
    if (rt_tok_broken(s, n)) {
        *c = 0xFFFD;
        return 1;
    }
    if (s[0] < 0xE0) {
        *c = (s[0] & 0x1F) << 6 | (s[1] & 0x3F);
        return 2;
    }
    if (s[0] < 0xF0) {
        *c = (s[0] & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F);
        return 3;
    }
    *c = (s[0] & 0x07) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F);
    return 4;
}

int rt_tok_put(unsigned char *s, int32_t c)
{
    if (c < 0x80) {
        s[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        s[0] = (unsigned char)(0xC0 | c >> 6);
        s[1] = (unsigned char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        s[0] = (unsigned char)(0xE0 | c >> 12);
        s[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        s[2] = (unsigned char)(0x80 | (c & 0x3F));
        return 3;
    }
    s[0] = (unsigned char)(0xF0 | (c >> 18 & 7));
    s[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
    s[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    s[3] = (unsigned char)(0x80 | (c & 0x3F));
    return 4;
}

/* The byte alphabet: printable bytes are themselves; the other 68, in order, are U+0100 and up. */
int rt_tok_byte(int32_t c)
{
    if ((c >= 0x21 && c <= 0x7E) || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF)) return (int)c;
    if (c >= 0x100 && c < 0x121) return (int)c - 0x100;
    if (c >= 0x121 && c < 0x143) return (int)c - 0x121 + 0x7F;
    return c == 0x143 ? 0xAD : -1;
}

/* ---- texts in scratch ------------------------------------------------------------------------------------ */

void *rt_tok_take(TokWork *w, size_t bytes)
{
    const size_t rounded = (bytes + 7) & ~(size_t)7;
    if (rounded < bytes || rounded > w->cap - w->used) {
        w->status = RT_NO_ROOM;
        return NULL;
    }
    void *p = w->scratch + w->used;
    w->used += rounded;
    return p;
}

bool rt_tok_new(TokWork *w, TokText *x, size_t cap)
{
    *x = (TokText){ .cap = cap };
    x->s = rt_tok_take(w, cap);
    if (w->origin && x->s) {
        x->begin = rt_tok_take(w, 4 * cap);
        x->end = rt_tok_take(w, 4 * cap);
    }
    return w->status == RT_OK;
}

void rt_tok_add(TokWork *w, TokText *x, const unsigned char *s, size_t n, uint32_t begin, uint32_t end)
{
    if (n > x->cap - x->n) {
        w->status = RT_NO_ROOM;
        return;
    }
    if (n) memcpy(x->s + x->n, s, n);
    if (x->begin)
        for (size_t i = 0; i < n; i++) {
            x->begin[x->n + i] = begin;
            x->end[x->n + i] = end;
        }
    x->n += n;
}

void rt_tok_add_character(TokWork *w, TokText *x, int32_t c, uint32_t begin, uint32_t end)
{
    unsigned char s[4];
    const int n = rt_tok_put(s, c);
    rt_tok_add(w, x, s, (size_t)n, begin, end);
}

void rt_tok_push(TokWork *w, uint32_t id, const TokText *x, size_t i, size_t j)
{
    if (id >= w->t->head[TOK_HEAD_PIECES]) {
        w->status = RT_BAD_ID;
        return;
    }
    if (w->skip) {
        w->skip--;
        return;
    }
    if (w->n < w->out->room) {
        w->out->ids[w->n] = (int)id;
        if (w->out->types) w->out->types[w->n] = (unsigned char)w->type;
        if (w->out->characters) w->out->characters[w->n] = (RtTokenSpan){ 0, 0 };
        if (w->out->spans) w->out->spans[w->n] = x ? (RtTokenSpan){ rt_tok_begin(x, i), rt_tok_end(x, j - 1) } : (RtTokenSpan){ 0, 0 };
    }
    w->n++;
}
