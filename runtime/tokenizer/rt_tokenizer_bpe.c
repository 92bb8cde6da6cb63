/* rt_tokenizer_bpe.c: byte-pair encoding. A word begins as its characters, or its bytes; then the
 * pair of lowest rank, the leftmost of equals, is merged until there is none. A word may be a whole
 * text, so it is cut where no merge can ever join the two sides, and each part is merged
 * separately. In a short part, each step looks at all pairs; in a long one, they are kept in a
 * heap, whose stale entries are recognised when they come up. */
#include "rt_tokenizer_parts.h"

enum { SHORT = 40 };

/* Bytes at .. at + bytes of the text; bytes is 0 once the symbol has been merged into the one
 * before it. */
typedef struct Symbol { uint32_t id, at, bytes, next, previous; } Symbol;
typedef struct Merge { uint32_t rank, merged; } Merge;
typedef struct Entry { uint32_t rank, at, merged; } Entry;
typedef struct Heap { Entry *entry; size_t n; } Heap;

typedef struct Word {
    TokWork *w;
    const TokText *x;
    size_t begin;
    Symbol *symbol;  uint32_t n, cap;
    uint32_t first, last;           /* part being merged: symbols first .. last - 1 */
} Word;

static const Merge no_merge = { RT_TOK_NONE, 0 };

static Merge find_merge(const RtTokenizer *t, uint32_t left, uint32_t right)
{
    const uint32_t mask = t->bytes[TOK_MERGE_SLOTS] / 4 - 1;
    if (!t->bytes[TOK_MERGE_SLOTS]) return no_merge;
    for (uint32_t i = rt_tok_merge_hash(left, right) & mask;; i = (i + 1) & mask) {
        const uint32_t slot = rt_tok_at(t, TOK_MERGE_SLOTS, i);
        if (!slot) return no_merge;
        const unsigned char *p = t->section[TOK_MERGES] + 16 * (size_t)(slot - 1);
        if (rt_tok_u32(p) == left && rt_tok_u32(p + 4) == right) return (Merge){ rt_tok_u32(p + 8), rt_tok_u32(p + 12) };
    }
}

/* True if merges may ever join these two adjacent initial symbols of a word into one symbol. */
static bool may_join(const RtTokenizer *t, uint32_t left, uint32_t right)
{
    const uint32_t words = t->bytes[TOK_JOINS] / 4, bit = rt_tok_merge_hash(left, right);
    return !words || rt_tok_at(t, TOK_JOINS, bit / 32 & (words - 1)) >> bit % 32 & 1;
}

/* ---- symbols ----------------------------------------------------------------------------------------------- */

static void add_symbol(Word *word, uint32_t id, size_t at, size_t bytes)
{
    if (word->n == word->cap) {
        word->w->status = RT_NO_ROOM;
        return;
    }
    const uint32_t n = word->n++;
    word->symbol[n] = (Symbol){ id, (uint32_t)at, (uint32_t)bytes, n + 1, n - 1 };
}

/* The symbol of a character, with the continuing_subword_prefix unless it begins the word, and with
 * the end_of_word_suffix if it ends the word. */
static uint32_t character_id(const RtTokenizer *t, const unsigned char *s, size_t n, bool first, bool last)
{
    const uint32_t *h = t->head;
    uint32_t state = 0;
    if (!first) state = rt_tok_walk(t, TOK_TRIE, state, rt_tok_text(t, h[TOK_HEAD_PREFIX]), h[TOK_HEAD_PREFIX_BYTES]);
    if (state != RT_TOK_NONE) state = rt_tok_walk(t, TOK_TRIE, state, s, n);
    if (last && state != RT_TOK_NONE) state = rt_tok_walk(t, TOK_TRIE, state, rt_tok_text(t, h[TOK_HEAD_SUFFIX]), h[TOK_HEAD_SUFFIX_BYTES]);
    return state == RT_TOK_NONE ? RT_TOK_NONE : rt_tok_value(t, TOK_TRIE, state);
}

static bool add_bytes(Word *word, const unsigned char *s, size_t n, size_t at)
{
    const RtTokenizer *t = word->w->t;
    for (size_t i = 0; i < n; i++)
        if (rt_tok_at(t, TOK_BYTES, s[i]) == RT_TOK_NONE) return false;
    for (size_t i = 0; i < n; i++) add_symbol(word, rt_tok_at(t, TOK_BYTES, s[i]), at + i, 1);
    return true;
}

static void make_symbols(Word *word, size_t end)
{
    const RtTokenizer *t = word->w->t;
    const uint32_t unknown = t->head[TOK_HEAD_UNKNOWN];
    const bool bytes = rt_tok_flag(t, TOK_BYTE_LEVEL), fuse = rt_tok_flag(t, TOK_FUSE_UNKNOWN);
    /* Characters that may become one unknown piece. */
    size_t unknown_at = 0, unknown_bytes = 0;
    for (size_t at = word->begin, n; at < end; at += n) {
        const unsigned char *s = word->x->s + at;
        int32_t c;
        n = bytes ? 1 : (size_t)rt_tok_character(s, end - at, &c);
        const uint32_t id = bytes ? rt_tok_at(t, TOK_BYTES, *s) : character_id(t, s, n, at == word->begin, at + n == end);
        if (id == RT_TOK_NONE && rt_tok_flag(t, TOK_BYTE_FALLBACK) && add_bytes(word, s, n, at)) continue;
        if (unknown_bytes && (id != RT_TOK_NONE || !fuse)) {
            add_symbol(word, unknown, unknown_at, unknown_bytes);
            unknown_bytes = 0;
        }
        if (id != RT_TOK_NONE) add_symbol(word, id, at, n);
        else if (unknown != RT_TOK_NONE) {
            if (!unknown_bytes) unknown_at = at;
            unknown_bytes += n;
        }
    }
    if (unknown_bytes) add_symbol(word, unknown, unknown_at, unknown_bytes);
}

/* ---- merging ------------------------------------------------------------------------------------------------ */

static Merge merge_behind(const Word *word, uint32_t i)
{
    const Symbol *s = &word->symbol[i];
    return s->next < word->last ? find_merge(word->w->t, s->id, word->symbol[s->next].id) : no_merge;
}

static void join(Word *word, uint32_t i, uint32_t merged)
{
    Symbol *s = &word->symbol[i], *right = &word->symbol[s->next];
    s->id = merged;
    s->bytes += right->bytes;
    s->next = right->next;
    right->bytes = 0;
    if (s->next < word->last) word->symbol[s->next].previous = i;
}

static void merge_short(Word *word)
{
    const uint32_t first = word->first;
    Merge merge[SHORT];             /* of the part's symbols, from its first on */
    for (uint32_t i = first; i < word->last; i++) merge[i - first] = merge_behind(word, i);
    for (;;) {
        uint32_t best = first, rank = RT_TOK_NONE;
        for (uint32_t i = first; i < word->last; i = word->symbol[i].next)
            if (merge[i - first].rank < rank) rank = merge[(best = i) - first].rank;
        if (rank == RT_TOK_NONE) return;
        join(word, best, merge[best - first].merged);
        merge[best - first] = merge_behind(word, best);
        const uint32_t before = word->symbol[best].previous;
        if (before != RT_TOK_NONE) merge[before - first] = merge_behind(word, before);
    }
}

static bool sooner(const Entry *a, const Entry *b) { return a->rank != b->rank ? a->rank < b->rank : a->at < b->at; }

static void heap_push(Heap *h, Entry e)
{
    size_t i = h->n++;
    for (; i && sooner(&e, &h->entry[(i - 1) / 2]); i = (i - 1) / 2) h->entry[i] = h->entry[(i - 1) / 2];
    h->entry[i] = e;
}

static Entry heap_pop(Heap *h)
{
    const Entry top = h->entry[0], last = h->entry[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && sooner(&h->entry[child + 1], &h->entry[child])) child++;
        if (!sooner(&h->entry[child], &last)) break;
        h->entry[i] = h->entry[child];
    }
    if (h->n) h->entry[i] = last;
    return top;
}

static void offer(const Word *word, Heap *h, uint32_t i)
{
    const Merge m = i != RT_TOK_NONE ? merge_behind(word, i) : no_merge;
    if (m.rank != RT_TOK_NONE) heap_push(h, (Entry){ m.rank, i, m.merged });
}

/* Each merge takes one entry and adds at most two, so there are never more than two per symbol. */
static void merge_long(Word *word)
{
    const size_t used = word->w->used;
    Heap h = { rt_tok_take(word->w, 2 * (size_t)(word->last - word->first) * sizeof(Entry)), 0 };
    if (!h.entry) return;
    for (uint32_t i = word->first; i < word->last; i++) offer(word, &h, i);
    while (h.n) {
        const Entry e = heap_pop(&h);
        if (!word->symbol[e.at].bytes) continue;
        const Merge m = merge_behind(word, e.at);
        if (m.rank != e.rank || m.merged != e.merged) continue;
        join(word, e.at, e.merged);
        offer(word, &h, word->symbol[e.at].previous);
        offer(word, &h, e.at);
    }
    word->w->used = used;
}

static void merge_part(Word *word)
{
    word->symbol[word->first].previous = RT_TOK_NONE;
    if (word->last - word->first > 1) (word->last - word->first <= SHORT ? merge_short : merge_long)(word);
}

static void merge_all(Word *word)
{
    for (word->first = 0; word->first < word->n && word->w->status == RT_OK; word->first = word->last) {
        word->last = word->first + 1;
        while (word->last < word->n && may_join(word->w->t, word->symbol[word->last - 1].id, word->symbol[word->last].id)) word->last++;
        merge_part(word);
    }
}

/* ---- a word ------------------------------------------------------------------------------------------------- */

/* True if a symbol that is not a piece can become its bytes, since each of them is a piece. */
static bool has_bytes(const Word *word, const Symbol *s)
{
    const RtTokenizer *t = word->w->t;
    if (!rt_tok_flag(t, TOK_BYTE_FALLBACK)) return false;
    for (uint32_t i = 0; i < s->bytes; i++)
        if (rt_tok_at(t, TOK_BYTES, word->x->s[s->at + i]) == RT_TOK_NONE) return false;
    return true;
}

static bool is_unknown(const Word *word, const Symbol *s)
{
    const uint32_t *head = word->w->t->head;
    return s->id == head[TOK_HEAD_UNKNOWN] || (s->id >= head[TOK_HEAD_PIECES] && !has_bytes(word, s));
}

static void give_symbol(const Word *word, const Symbol *s)
{
    const RtTokenizer *t = word->w->t;
    if (is_unknown(word, s))
        rt_tok_push(word->w, t->head[TOK_HEAD_UNKNOWN], word->x, s->at, s->at + s->bytes);
    else if (s->id < t->head[TOK_HEAD_PIECES])
        rt_tok_push(word->w, s->id, word->x, s->at, s->at + s->bytes);
    else for (size_t at = s->at; at < s->at + s->bytes; at++)
        rt_tok_push(word->w, rt_tok_at(t, TOK_BYTES, word->x->s[at]), word->x, at, at + 1);
}

/* True if `next`, right after `s`, belongs to the same unknown piece. Adjacent unknown characters
 * are one symbol already, so one of the two must be a symbol that is not a piece. */
static bool fuses(const Word *word, const Symbol *s, const Symbol *next)
{
    const uint32_t pieces = word->w->t->head[TOK_HEAD_PIECES];
    return rt_tok_flag(word->w->t, TOK_FUSE_UNKNOWN) && (s->id >= pieces || next->id >= pieces) &&
           is_unknown(word, s) && is_unknown(word, next);
}

static void give_symbols(const Word *word)
{
    for (uint32_t i = 0; word->w->status == RT_OK && i < word->n;) {
        Symbol s = word->symbol[i];
        for (const Symbol *next; s.next < word->n && fuses(word, &s, next = &word->symbol[s.next]);) {
            if (next->id > s.id) s.id = next->id;
            s.bytes += next->bytes;
            s.next = next->next;
        }
        give_symbol(word, &s);
        i = s.next;
    }
}

void rt_tok_bpe(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    const size_t used = w->used;
    Symbol few[SHORT];
    Word word = { .w = w, .x = x, .begin = begin, .symbol = few, .cap = SHORT };
    if (rt_tok_flag(w->t, TOK_IGNORE_MERGES)) {
        const uint32_t id = rt_tok_find(w->t, TOK_TRIE, x->s + begin, end - begin);
        if (id < w->t->head[TOK_HEAD_PIECES]) {
            rt_tok_push(w, id, x, begin, end);
            return;
        }
    }
    if (end - begin > SHORT) {
        word.cap = (uint32_t)(end - begin);
        word.symbol = rt_tok_take(w, word.cap * sizeof(Symbol));
    }
    if (word.symbol) make_symbols(&word, end);
    merge_all(&word);
    if (w->status == RT_OK) give_symbols(&word);
    w->used = used;
}
