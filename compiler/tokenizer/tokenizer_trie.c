/* tokenizer_trie.c: build a trie as a double array (Aoki 1989), in the format of
 * rt_tokenizer_format.h. */
#include "tokenizer_build.h"

#include <stdlib.h>
#include <string.h>

typedef struct Maker {
    Arena *arena;
    const TokEntry *entry;
    uint32_t *units, room, top;     /* pairs {base, check}; the cells below `top` may be in use */
    uint32_t start;                 /* find_base skips the cells before it; nearly all are in use */
} Maker;

static int by_key(const void *x, const void *y)
{
    const TokEntry *a = x, *b = y;
    const int order = memcmp(a->key.s, b->key.s, a->key.n < b->key.n ? a->key.n : b->key.n);
    if (order) return order;
    if (a->key.n != b->key.n) return a->key.n < b->key.n ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static void make_room(Maker *m, uint32_t cells)
{
    if (cells <= m->room) return;
    uint32_t room = m->room ? m->room : 1024;
    while (room < cells) room *= 2;
    m->units = arena_grow(m->arena, m->units, (size_t)m->room * 8, (size_t)room * 8);
    m->room = room;
}

static bool is_free(const Maker *m, uint32_t cell) { return cell >= m->room || !m->units[2 * cell + 1]; }

/* The lowest base with a free cell for every label, from m->start on. Moves m->start up if nearly
 * all cells before the first of these are in use. */
static uint32_t find_base(Maker *m, const uint16_t *label, int n)
{
    uint32_t full = 0;
    for (uint32_t cell = m->start > label[0] ? m->start : label[0] + 1u;; cell++) {
        if (!is_free(m, cell)) {
            full++;
            continue;
        }
        const uint32_t base = cell - label[0], seen = cell - m->start + 1;
        bool fits = true;
        for (int i = 1; i < n && fits; i++) fits = is_free(m, base + label[i]);
        if (!fits) continue;
        if (seen > 64 && full > seen / 20 * 19) m->start = cell;
        return base;
    }
}

static void place(Maker *m, int first, int last, size_t depth, uint32_t state)
{
    uint16_t label[257];
    int begin[258], n = 0;
    for (int i = first; i < last; i++) {
        const TokString k = m->entry[i].key;
        const uint16_t l = k.n == depth ? 0 : (uint16_t)((unsigned char)k.s[depth] + 1);
        if (n && label[n - 1] == l) continue;
        begin[n] = i;
        label[n++] = l;
    }
    begin[n] = last;
    const uint32_t base = find_base(m, label, n);
    make_room(m, base + label[n - 1] + 1);
    if (base + label[n - 1] >= m->top) m->top = base + label[n - 1] + 1;
    m->units[2 * state] = base;
    for (int i = 0; i < n; i++) m->units[2 * (base + label[i]) + 1] = state + 1;
    for (int i = 0; i < n; i++) {
        if (label[i]) place(m, begin[i], begin[i + 1], depth + 1, base + label[i]);
        else m->units[2 * base] = m->entry[begin[i + 1] - 1].value;
    }
}

TokTrie tok_trie(Arena *a, TokEntry *entries, int count)
{
    Maker m = { .arena = a, .entry = entries, .top = 1, .start = 1 };
    make_room(&m, 1024);
    if (count) {
        qsort(entries, (size_t)count, sizeof *entries, by_key);
        place(&m, 0, count, 0, 0);
    }
    return (TokTrie){ m.units, m.top };
}
