/* rt_tokenizer_map.c: SentencePiece's table of replacements ("precompiled_charsmap"), a darts-clone
 * trie. Hugging Face looks up each grapheme cluster of up to five bytes as a whole, otherwise each
 * character, and takes the shortest entry that is a prefix; SentencePiece itself takes the longest
 * entry at each place of the text. */
#include "rt_tokenizer_parts.h"

/* At each place, no more entries are considered than in SentencePiece. Keys are a few characters
 * long; the limit on their bytes ends the search if a damaged trie has a cycle. */
enum { MAP_ENTRIES = 32, MAP_KEY_BYTES = 1024 };

/* An entry of the table; length: bytes of its key, 0 if there is no entry. */
typedef struct MapEntry { const unsigned char *text; size_t bytes, length; } MapEntry;

static uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

static MapEntry entry_at(const RtTokenizer *t, uint32_t value, size_t length)
{
    const uint32_t all = t->bytes[TOK_CHARSMAP_TEXT];
    const unsigned char *text = t->section[TOK_CHARSMAP_TEXT];
    if (value >= all) return (MapEntry){ 0 };
    const unsigned char *end = memchr(text + value, 0, all - value);
    return (MapEntry){ text + value, end ? (size_t)(end - (text + value)) : all - value, length };
}

/* The shortest or the longest entry that s[n] begins with. */
static MapEntry find(const RtTokenizer *t, const unsigned char *s, size_t n, bool shortest)
{
    const uint32_t units = t->bytes[TOK_CHARSMAP] / 4;
    MapEntry best = { 0 };
    if (!units) return best;
    uint32_t at = offset_of(rt_tok_at(t, TOK_CHARSMAP, 0));
    for (size_t i = 0, found = 0; i < n && i < MAP_KEY_BYTES && s[i] && found < MAP_ENTRIES; i++) {
        at ^= s[i];
        if (at >= units) break;
        const uint32_t unit = rt_tok_at(t, TOK_CHARSMAP, at);
        if ((unit & UINT32_C(0x800000FF)) != s[i]) break;
        at ^= offset_of(unit);
        if (at >= units) break;
        if (!(unit >> 8 & 1)) continue;
        const MapEntry e = entry_at(t, rt_tok_at(t, TOK_CHARSMAP, at) & UINT32_C(0x7FFFFFFF), i + 1);
        found++;
        if (e.length) best = e;
        if (shortest && best.length) break;
    }
    return best;
}

/* Add what replaces in->s[at .. at + n), or these bytes if there is no entry. Its characters take
 * their origins from the replaced ones, one by one; any further ones from the last. */
static void map_replace(TokWork *w, const MapEntry *e, const TokText *in, size_t at, size_t n, TokText *out)
{
    const unsigned char *s = e->length ? e->text : in->s + at;
    const size_t bytes = e->length ? e->bytes : n, behind = at + n;
    int32_t c;
    size_t from = at, length = (size_t)rt_tok_character(in->s + at, n, &c);
    for (size_t i = 0, k; i < bytes; i += k) {
        k = (size_t)rt_tok_character(s + i, bytes - i, &c);
        rt_tok_add(w, out, s + i, k, rt_tok_begin(in, from), rt_tok_end(in, from + length - 1));
        if (from + length >= behind) continue;
        from += length;
        length = (size_t)rt_tok_character(in->s + from, behind - from, &c);
    }
}

/* The length of an added token at s that is matched after the normalisers, and so must not change;
 * 0 if there is none. */
static size_t kept(const RtTokenizer *t, const unsigned char *s, size_t n)
{
    size_t bytes = 0;
    uint32_t state = 0;
    for (size_t i = 0; t->bytes[TOK_ADDED_NORMAL] && i < n; i++) {
        if ((state = rt_tok_step(t, TOK_ADDED_NORMAL, state, s[i])) == RT_TOK_NONE) break;
        if (rt_tok_value(t, TOK_ADDED_NORMAL, state) != RT_TOK_NONE) bytes = i + 1;
    }
    return bytes;
}

void rt_tok_map_longest(TokWork *w, const TokText *in, TokText *out)
{
    for (size_t at = 0, n; at < in->n; at += n) {
        int32_t c;
        const size_t whole = kept(w->t, in->s + at, in->n - at);
        const MapEntry e = whole ? (MapEntry){ 0 } : find(w->t, in->s + at, in->n - at, false);
        n = whole ? whole : e.length ? e.length : (size_t)rt_tok_character(in->s + at, in->n - at, &c);
        map_replace(w, &e, in, at, n, out);
    }
}

/* ---- grapheme clusters: UAX 29, rules GB3 to GB13 ------------------------------------------------------------- */

/* The context that decides if a cluster ends here. */
typedef struct Cluster { RtTokBreak last; bool picture, joined; int flags; } Cluster;

static bool together(const Cluster *k, RtTokBreak b)
{
    const RtTokBreak a = k->last;
    if (a == TOK_BREAK_CR) return b == TOK_BREAK_LF;
    if (a == TOK_BREAK_LF || a == TOK_BREAK_CONTROL || b == TOK_BREAK_CR || b == TOK_BREAK_LF || b == TOK_BREAK_CONTROL) return false;
    if (a == TOK_BREAK_L && (b == TOK_BREAK_L || b == TOK_BREAK_V || b == TOK_BREAK_LV || b == TOK_BREAK_LVT)) return true;
    if ((a == TOK_BREAK_LV || a == TOK_BREAK_V) && (b == TOK_BREAK_V || b == TOK_BREAK_T)) return true;
    if ((a == TOK_BREAK_LVT || a == TOK_BREAK_T) && b == TOK_BREAK_T) return true;
    if (b == TOK_BREAK_EXTEND || b == TOK_BREAK_ZWJ || b == TOK_BREAK_SPACING || a == TOK_BREAK_PREPEND) return true;
    if (k->joined && b == TOK_BREAK_PICTURE) return true;
    return a == TOK_BREAK_FLAG && b == TOK_BREAK_FLAG && k->flags % 2 == 1;
}

static void take(Cluster *k, RtTokBreak b)
{
    k->joined = b == TOK_BREAK_ZWJ && k->picture;
    k->picture = b == TOK_BREAK_PICTURE || (b == TOK_BREAK_EXTEND && k->picture);
    k->flags = b == TOK_BREAK_FLAG ? k->flags + 1 : 0;
    k->last = b;
}

static size_t cluster_end(const RtTokenizer *t, const TokText *in, size_t at)
{
    Cluster k = { TOK_BREAK_OTHER, false, false, 0 };
    for (size_t begin = at; at < in->n;) {
        int32_t c;
        const size_t n = (size_t)rt_tok_character(in->s + at, in->n - at, &c);
        const RtTokBreak b = (RtTokBreak)rt_tok_lookup(t, TOK_GRAPHEMES, c, 1);
        if (at > begin && !together(&k, b)) break;
        take(&k, b);
        at += n;
    }
    return at;
}

void rt_tok_map_graphemes(TokWork *w, const TokText *in, TokText *out)
{
    for (size_t at = 0, end; at < in->n; at = end) {
        int32_t c;
        end = cluster_end(w->t, in, at);
        MapEntry e = end - at < 6 ? find(w->t, in->s + at, end - at, true) : (MapEntry){ 0 };
        if (e.length) map_replace(w, &e, in, at, end - at, out);
        for (size_t n; !e.length && at < end; at += n) {
            n = (size_t)rt_tok_character(in->s + at, end - at, &c);
            const MapEntry one = find(w->t, in->s + at, n, true);
            map_replace(w, &one, in, at, n, out);
        }
    }
}
