/* bpe_boundaries.c: find the pairs of adjacent initial symbols (those that a word has before any
 * merge) that a merge may ever join. In: merges; out: a bit for each such pair, at its hash.
 *
 * The runtime cuts a word between two symbols whose pair has no bit. A merge across the cut would
 * need a left part that ends with the first symbol and a right part that begins with the second;
 * each merge yields exactly one such pair. */
#include "tokenizer_build.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_FOR_EACH = 32, PASSES_MOST = 64, WORDS_LEAST = 32, WORDS_MOST = 1 << 20 };

/* first[] and last[] have the initial symbols with which each symbol begins and ends; `several` if
 * the merges of the symbol disagree. */
static const uint32_t several = RT_TOK_NONE - 1;

static size_t characters(TokString s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.s[i] & 0xC0) != 0x80;
    return n;
}

static TokString affix(const TokBuild *b, RtTokHead at) { return (TokString){ b->text.data + b->head[at], b->head[at + 1] }; }

/* True if a key may be a single character, not counting the prefix and suffix that mark its place
 * in a word. */
static bool is_character(const TokBuild *b, TokString key)
{
    const TokString prefix = affix(b, TOK_HEAD_PREFIX), suffix = affix(b, TOK_HEAD_SUFFIX);
    if (!key.s || b->byte_level) return key.s && key.n <= 1;
    return characters(key) <= 1 + characters(prefix) + characters(suffix);
}

static void join_ends(uint32_t *of, uint32_t to, uint32_t from, bool *changed)
{
    const uint32_t x = of[from], y = of[to], both = x == RT_TOK_NONE || x == y ? y : y == RT_TOK_NONE ? x : several;
    *changed = *changed || both != y;
    of[to] = both;
}

/* Propagate first[] and last[] through the merges; false if they are not stable after PASSES_MOST
 * passes. */
static bool find_ends(const TokBuild *b, uint32_t *first, uint32_t *last)
{
    bool changed = true;
    for (int pass = 0; pass < PASSES_MOST && changed; pass++) {
        changed = false;
        for (int i = 0; i < b->merges.count; i++) {
            const TokMerge *m = &b->merges.at[i];
            join_ends(first, m->merged, m->left, &changed);
            join_ends(last, m->merged, m->right, &changed);
        }
    }
    return !changed;
}

static void mark_itself(const TokBuild *b, uint32_t id, uint32_t *first, uint32_t *last)
{
    if (id < (uint32_t)b->pieces.count) first[id] = last[id] = id;
}

/* Set first[] and last[] of each initial symbol (characters, bytes, the unknown token, and symbols
 * that no merge produces) to the symbol itself. */
static void mark_first(const TokBuild *b, const uint32_t bytes[256], uint32_t *first, uint32_t *last)
{
    bool *made = arena_array(b->arena, (size_t)b->pieces.count + 1, sizeof *made);
    for (int i = 0; i < b->merges.count; i++) made[b->merges.at[i].merged] = true;
    memset(first, 0xFF, (size_t)b->pieces.count * sizeof *first);
    memset(last, 0xFF, (size_t)b->pieces.count * sizeof *last);
    for (uint32_t i = 0; i < (uint32_t)b->pieces.count; i++)
        if (!made[i] || is_character(b, b->pieces.at[i].key)) mark_itself(b, i, first, last);
    for (int i = 0; i < 256; i++) mark_itself(b, bytes[i], first, last);
    mark_itself(b, b->head[TOK_HEAD_UNKNOWN], first, last);
}

static int by_number(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

uint32_t *tok_joins(const TokBuild *b, const uint32_t bytes[256], uint32_t *count)
{
    const size_t n = (size_t)b->merges.count, symbols = (size_t)b->pieces.count;
    *count = 0;
    if (!n) return NULL;
    uint32_t *first = arena_array(b->arena, symbols, sizeof *first), *last = arena_array(b->arena, symbols, sizeof *last);
    uint64_t *pair = arena_array(b->arena, n, sizeof *pair), different = 0;
    for (size_t i = 0; i < n; i++) {
        const TokMerge *m = &b->merges.at[i];
        if (m->left >= symbols || m->right >= symbols || m->merged >= symbols) return NULL;
    }
    mark_first(b, bytes, first, last);
    if (!find_ends(b, first, last)) return NULL;
    for (size_t i = 0; i < n; i++) {
        const uint32_t left = last[b->merges.at[i].left], right = first[b->merges.at[i].right];
        if (left >= several || right >= several) return NULL;
        pair[i] = (uint64_t)left << 32 | right;
    }
    qsort(pair, n, sizeof *pair, by_number);
    for (size_t i = 0; i < n; i++) different += !i || pair[i] != pair[i - 1];
    uint32_t words = WORDS_LEAST;
    while (words < WORDS_MOST && words < different * BITS_FOR_EACH / 32) words *= 2;
    uint32_t *bits = arena_array(b->arena, words, sizeof *bits);
    for (size_t i = 0; i < n; i++) {
        const uint32_t bit = rt_tok_merge_hash((uint32_t)(pair[i] >> 32), (uint32_t)pair[i]);
        bits[bit / 32 & (words - 1)] |= UINT32_C(1) << bit % 32;
    }
    *count = words;
    return bits;
}
