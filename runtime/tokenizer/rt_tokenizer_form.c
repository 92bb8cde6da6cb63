/* rt_tokenizer_form.c: Unicode normalisation forms (UAX 15). Characters are decomposed and gathered
 * in runs that begin with a starter; the marks of a run are put into canonical order, and composed
 * again if the form asks for it. A composed character has the origin of its starter, as in Hugging
 * Face's tokenizers. */
#include "rt_tokenizer_parts.h"

typedef struct Mark { int32_t c; uint32_t class, begin, end; } Mark;

/* A run: marks[n], and room to sort them. A mark has at least two bytes and becomes at most two
 * marks, so `cap` is little more than the length of the text. */
typedef struct Run { TokWork *w; TokText *out; Mark *marks, *sorted; size_t n, cap; bool compose; } Run;

enum { S_BASE = 0xAC00, L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11A7, L_COUNT = 19, V_COUNT = 21, T_COUNT = 28 };

static int32_t compose_pair(const RtTokenizer *t, int32_t a, int32_t b)
{
    if (a >= L_BASE && a < L_BASE + L_COUNT && b >= V_BASE && b < V_BASE + V_COUNT)
        return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    if (a >= S_BASE && a < S_BASE + L_COUNT * V_COUNT * T_COUNT && (a - S_BASE) % T_COUNT == 0 && b > T_BASE && b < T_BASE + T_COUNT)
        return a + (b - T_BASE);
    size_t low = 0, high = t->bytes[TOK_COMPOSE] / 12;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const uint32_t first = rt_tok_at(t, TOK_COMPOSE, 3 * middle), second = rt_tok_at(t, TOK_COMPOSE, 3 * middle + 1);
        if (first == (uint32_t)a && second == (uint32_t)b) return (int32_t)rt_tok_at(t, TOK_COMPOSE, 3 * middle + 2);
        if (first < (uint32_t)a || (first == (uint32_t)a && second < (uint32_t)b)) low = middle + 1;
        else high = middle;
    }
    return -1;
}

/* Move a character, but not its origin: origins keep their order, as in Hugging Face. */
static void put_character(Mark *to, const Mark *from)
{
    to->c = from->c;
    to->class = from->class;
}

/* Sort marks by combining class, stably. A counting sort, since a run may be as long as the
 * text. */
static void sort(Run *r, size_t from)
{
    size_t at[256] = { 0 }, sum = from;
    bool sorted = true;
    for (size_t i = from + 1; i < r->n && sorted; i++) sorted = r->marks[i - 1].class <= r->marks[i].class;
    if (sorted) return;
    for (size_t i = from; i < r->n; i++) at[r->marks[i].class]++;
    for (int k = 0; k < 256; k++) {
        const size_t count = at[k];
        at[k] = sum;
        sum += count;
    }
    for (size_t i = from; i < r->n; i++) r->sorted[at[r->marks[i].class]++] = r->marks[i];
    for (size_t i = from; i < r->n; i++) put_character(&r->marks[i], &r->sorted[i]);
}

/* Compose each mark with the starter at 0, unless a kept mark between them has the same class or is
 * a starter. */
static void compose(Run *r)
{
    size_t kept = 1;
    for (size_t i = 1; i < r->n; i++) {
        const Mark m = r->marks[i];
        const bool blocked = kept > 1 && (r->marks[kept - 1].class >= m.class || r->marks[kept - 1].class == 0);
        const int32_t both = blocked ? -1 : compose_pair(r->w->t, r->marks[0].c, m.c);
        if (both >= 0) r->marks[0].c = both;
        else put_character(&r->marks[kept++], &m);
    }
    const size_t gone = r->n - kept;
    for (size_t i = 1; i < kept && gone; i++) {
        r->marks[i].begin = r->marks[i + gone].begin;
        r->marks[i].end = r->marks[i + gone].end;
    }
    r->n = kept;
}

static void flush(Run *r)
{
    for (size_t i = 0; i < r->n; i++) rt_tok_add_character(r->w, r->out, r->marks[i].c, r->marks[i].begin, r->marks[i].end);
    r->n = 0;
}

/* Sort and compose a complete run. If only its starter is left, it may still compose with the
 * next starter: see form_put. */
static void settle(Run *r)
{
    if (r->n > 1) sort(r, r->marks[0].class ? 0 : 1);
    if (r->compose && r->n > 1 && !r->marks[0].class) compose(r);
}

static void form_put(Run *r, int32_t c, uint32_t begin, uint32_t end)
{
    const uint32_t class = c < 0x300 ? 0 : rt_tok_lookup(r->w->t, TOK_COMBINING, c, 1);
    if (!class && r->n) {
        settle(r);
        const int32_t both = r->compose && r->n == 1 && !r->marks[0].class ? compose_pair(r->w->t, r->marks[0].c, c) : -1;
        if (both >= 0) {
            r->marks[0].c = both;
            return;
        }
        flush(r);
    }
    if (r->n == r->cap) {
        r->w->status = RT_NO_ROOM;
        return;
    }
    r->marks[r->n++] = (Mark){ c, class, begin, end };
}

static void decompose(Run *r, int32_t c, uint32_t begin, uint32_t end)
{
    const RtTokenizer *t = r->w->t;
    const int32_t s = c - S_BASE;
    if (s >= 0 && s < L_COUNT * V_COUNT * T_COUNT) {
        form_put(r, L_BASE + s / (V_COUNT * T_COUNT), begin, end);
        form_put(r, V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT, begin, end);
        if (s % T_COUNT) form_put(r, T_BASE + s % T_COUNT, begin, end);
        return;
    }
    const uint32_t at = c < 0xA0 ? 0 : rt_tok_lookup(t, TOK_DECOMPOSE, c, 2), n = at ? rt_tok_at(t, TOK_SEQUENCES, at) : 0;
    if (!at) form_put(r, c, begin, end);
    for (uint32_t i = 1; i <= n; i++) form_put(r, (int32_t)rt_tok_at(t, TOK_SEQUENCES, at + i), begin, end);
}

/* How many bytes from `at` on are ASCII; if other characters follow, without the last byte, since
 * the next character may be a mark on it. */
static size_t plain(const TokText *in, size_t at)
{
    size_t n = at;
    while (n < in->n && in->s[n] < 0x80) n++;
    return n == in->n ? n - at : n > at ? n - at - 1 : 0;
}

void rt_tok_form(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    const size_t used = w->used;
    Run r = { .w = w, .out = out, .cap = in->n + TOK_RUN_EXTRA, .compose = op->a != 0 };
    r.marks = rt_tok_take(w, r.cap * sizeof *r.marks);
    r.sorted = rt_tok_take(w, r.cap * sizeof *r.sorted);
    if (!r.marks || !r.sorted) return;
    for (size_t at = 0, n; at < in->n && w->status == RT_OK; at += n) {
        int32_t c;
        if ((n = plain(in, at))) {
            settle(&r);
            flush(&r);
            for (size_t i = at; i < at + n; i++) rt_tok_add(w, out, in->s + i, 1, rt_tok_begin(in, i), rt_tok_end(in, i));
            continue;
        }
        n = (size_t)rt_tok_character(in->s + at, in->n - at, &c);
        decompose(&r, c, rt_tok_begin(in, at), rt_tok_end(in, at + n - 1));
    }
    settle(&r);
    flush(&r);
    w->used = used;
}
