/* tokenizer_charsmap.c: check SentencePiece's table of character replacements
 * ("precompiled_charsmap"), a darts-clone trie followed by the texts of its entries, and bound how
 * much it may lengthen a text. */
#include "tokenizer_build.h"

#include <math.h>
#include <string.h>

static uint32_t u32_at(TokString s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s.s + 4 * n;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t map_offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

/* Units in breadth-first order; depth[unit] is the least depth, 0 if the unit is not reached. */
typedef struct MapWalk { uint32_t *queue; int *depth; uint32_t count; } MapWalk;

/* Queue the children of the state `at`. Keys share suffixes, and a damaged map may have cycles, so
 * each unit is queued once, at its least depth. */
static void map_reach(MapWalk *m, TokString units, uint32_t at, int depth)
{
    for (uint32_t c = 1; c < 256; c++) {
        const uint32_t to = at ^ c;
        if (to >= units.n / 4 || m->depth[to] || (u32_at(units, to) & UINT32_C(0x800000FF)) != c) continue;
        m->depth[to] = depth;
        m->queue[m->count++] = to;
    }
}

/* The largest ratio of an entry's length to that of its key, at least 1. If keys share an entry,
 * the shortest key is used. */
static double map_growth(const TokBuild *b)
{
    const TokString units = b->charsmap, text = b->charsmap_text;
    MapWalk m = { arena_array(b->arena, units.n / 4, sizeof *m.queue), arena_array(b->arena, units.n / 4, sizeof *m.depth), 0 };
    double growth = 1;
    map_reach(&m, units, map_offset(u32_at(units, 0)), 1);
    for (uint32_t i = 0; i < m.count; i++) {
        const uint32_t unit = u32_at(units, m.queue[i]), to = m.queue[i] ^ map_offset(unit);
        const int depth = m.depth[m.queue[i]];
        if (unit >> 8 & 1 && to < units.n / 4) {
            const uint32_t value = u32_at(units, to) & UINT32_C(0x7FFFFFFF);
            const size_t n = value < text.n ? strnlen(text.s + value, text.n - value) : 0;
            growth = fmax(growth, (double)n / depth);
        }
        map_reach(&m, units, to, depth + 1);
    }
    return growth;
}

/* True if a unit is valid. A leaf must point into the text. The children of any other unit must be
 * within the units, and if the unit's flag says that one of them is a leaf, that one must be. */
static bool unit_is_whole(TokString units, uint32_t at, size_t text)
{
    const uint32_t unit = u32_at(units, at), to = at ^ map_offset(unit);
    if (unit >> 31) return (unit & UINT32_C(0x7FFFFFFF)) < text;
    return to < units.n / 4 && (!(unit >> 8 & 1) || u32_at(units, to) >> 31);
}

bool tok_charsmap_is_whole(TokString map)
{
    const uint32_t bytes = map.n >= 4 ? u32_at(map, 0) : 0;
    if (!bytes || bytes % 1024 || bytes >= map.n - 4 || map.s[map.n - 1]) return false;
    const TokString units = { map.s + 4, bytes };
    const uint32_t root = u32_at(units, 0);
    bool whole = map_offset(root) && !(root & UINT32_C(0x800001FF));
    for (uint32_t i = 0; i < bytes / 4 && whole; i++)
        whole = unit_is_whole(units, i, map.n - 4 - bytes);
    return whole;
}

bool tok_charsmap(TokBuild *b, const unsigned char *data, size_t n, RtTokOpKind kind)
{
    const TokString all = { (const char *)data, n };
    if (!n) return true;
    const uint32_t bytes = n >= 4 ? u32_at(all, 0) : 0;
    if (n < 8 || bytes % 4 || bytes < 4 || bytes > n - 4) {
        tok_refuse(b, "precompiled_charsmap is damaged");
        return false;
    }
    if (b->charsmap.n) {
        tok_refuse(b, "more than one precompiled_charsmap is not supported");
        return false;
    }
    b->charsmap = (TokString){ all.s + 4, bytes };
    b->charsmap_text = (TokString){ all.s + 4 + bytes, n - 4 - bytes };
    b->graphemes = b->graphemes || kind == TOK_MAP_GRAPHEMES;
    tok_normaliser(b, (RtTokOp){ .kind = kind, .a = (uint32_t)ceil(map_growth(b)) });
    return true;
}
