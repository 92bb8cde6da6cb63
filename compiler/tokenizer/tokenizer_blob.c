/* tokenizer_blob.c: serialise a TokBuild: a header and the sections of rt_tokenizer_format.h, with
 * only those Unicode tables that the tokenizer needs. Added tokens that are matched in normalised
 * text are normalised by the runtime itself, which opens the blob made so far. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt_tokenizer.h"
#include "tokenizer_build.h"
#include "tokenizer_unicode.h"

typedef struct Section { unsigned char *data; size_t n, room; } Section;
typedef struct Blob { TokBuild *b; Section section[TOK_SECTIONS]; } Blob;

/* ---- bytes ------------------------------------------------------------------------------------------------------------ */

static void add(Blob *o, RtTokSection s, const void *data, size_t n)
{
    Section *x = &o->section[s];
    if (n > x->room - x->n) {
        const size_t room = 2 * (x->n + n) + 64;
        x->data = arena_grow(o->b->arena, x->data, x->room, room);
        x->room = room;
    }
    if (n) memcpy(x->data + x->n, data, n);
    x->n += n;
}

static void add_u32(Blob *o, RtTokSection s, uint32_t v)
{
    const unsigned char bytes[] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24) };
    add(o, s, bytes, sizeof bytes);
}

static void add_f64(Blob *o, RtTokSection s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    add_u32(o, s, (uint32_t)bits);
    add_u32(o, s, (uint32_t)(bits >> 32));
}

/* ---- tables by code point ---------------------------------------------------------------------------------------------- */

/* A two-stage table of value[UNICODE_END], `width` bytes each; equal blocks are stored once. */
static void add_stages(Blob *o, RtTokSection s, const uint16_t *value, int width)
{
    uint16_t block[RT_TOK_BLOCKS];
    int first[RT_TOK_BLOCKS], blocks = 0;
    for (int i = 0; i < RT_TOK_BLOCKS; i++) {
        int k = 0;
        while (k < blocks && memcmp(value + 256 * (size_t)first[k], value + 256 * (size_t)i, 256 * sizeof *value) != 0) k++;
        if (k == blocks) first[blocks++] = i;
        block[i] = (uint16_t)k;
    }
    for (int i = 0; i < RT_TOK_BLOCKS; i++) {
        const unsigned char bytes[] = { (unsigned char)block[i], (unsigned char)(block[i] >> 8) };
        add(o, s, bytes, 2);
    }
    for (int k = 0; k < blocks; k++)
        for (int i = 0; i < 256; i++) {
            const uint16_t v = value[256 * (size_t)first[k] + (size_t)i];
            const unsigned char bytes[] = { (unsigned char)v, (unsigned char)(v >> 8) };
            add(o, s, bytes, (size_t)width);
        }
}

static void add_table(Blob *o, RtTokSection s, unsigned of(int32_t))
{
    uint16_t *value = arena_array(o->b->arena, UNICODE_END, sizeof *value);
    for (int32_t c = 0; c < UNICODE_END; c++) value[c] = (uint16_t)of(c);
    add_stages(o, s, value, 1);
}

static int by_pair(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : a[1] > b[1];
}

static void add_forms(Blob *o)
{
    uint16_t *value = arena_array(o->b->arena, UNICODE_END, sizeof *value);
    uint32_t (*pair)[3] = arena_array(o->b->arena, 4096, sizeof *pair);
    int pairs = 0;
    add_u32(o, TOK_SEQUENCES, 0);
    for (int32_t c = 0xA0; c < UNICODE_END; c++) {
        int32_t parts[UNICODE_LONGEST], two[2];
        const int n = tok_decompose(c, o->b->compatible, parts);
        if (!n) continue;
        value[c] = (uint16_t)(o->section[TOK_SEQUENCES].n / 4);
        add_u32(o, TOK_SEQUENCES, (uint32_t)n);
        for (int i = 0; i < n; i++) add_u32(o, TOK_SEQUENCES, (uint32_t)parts[i]);
        if (pairs < 4096 && tok_composed_of(c, two)) {
            pair[pairs][0] = (uint32_t)two[0];
            pair[pairs][1] = (uint32_t)two[1];
            pair[pairs++][2] = (uint32_t)c;
        }
    }
    if (o->section[TOK_SEQUENCES].n / 4 > UINT16_MAX) die("decompositions do not fit");
    add_stages(o, TOK_DECOMPOSE, value, 2);
    qsort(pair, (size_t)pairs, sizeof *pair, by_pair);
    for (int i = 0; i < pairs; i++)
        for (int k = 0; k < 3; k++) add_u32(o, TOK_COMPOSE, pair[i][k]);
    add_table(o, TOK_COMBINING, tok_combining_class);
}

static void add_lower(Blob *o)
{
    for (int32_t c = 128; c < UNICODE_END; c++) {
        int32_t lower[2] = { 0, 0 };
        const int n = tok_lower(c, lower);
        if (!n) continue;
        add_u32(o, TOK_LOWER, (uint32_t)c);
        add_u32(o, TOK_LOWER, (uint32_t)lower[0]);
        add_u32(o, TOK_LOWER, n > 1 ? (uint32_t)lower[1] : 0);
    }
}

static void add_properties(Blob *o)
{
    static unsigned (*const properties[])(int32_t) = { tok_property_modern, tok_property_bert,
                                                       tok_property_marks };
    add_table(o, TOK_PROPERTIES, properties[o->b->era]);
}

static void add_graphemes(Blob *o) { add_table(o, TOK_GRAPHEMES, unicode_break); }

/* Fill the sections `first` to `last` with `make`. Their content depends only on the variant, so
 * each variant is made once per process and kept. */
static void add_kept(Blob *o, void make(Blob *), RtTokSection first, RtTokSection last,
                     unsigned variant)
{
    enum { VARIANTS = 3 };
    static Section kept[TOK_SECTIONS][VARIANTS];
    if (kept[first][variant].data) {
        for (int s = first; s <= (int)last; s++)
            add(o, (RtTokSection)s, kept[s][variant].data, kept[s][variant].n);
        return;
    }
    make(o);
    for (int s = first; s <= (int)last; s++) {
        const Section *made = &o->section[s];
        unsigned char *copy = malloc(made->n + 1);
        if (!copy) no_memory("a table of %zu bytes", made->n);
        if (made->n) memcpy(copy, made->data, made->n);
        kept[s][variant] = (Section){ copy, made->n, made->n };
    }
}

static void add_tables(Blob *o)
{
    const TokBuild *b = o->b;
    if (b->properties)
        add_kept(o, add_properties, TOK_PROPERTIES, TOK_PROPERTIES, (unsigned)b->era);
    if (b->graphemes) add_kept(o, add_graphemes, TOK_GRAPHEMES, TOK_GRAPHEMES, 0);
    if (b->forms) add_kept(o, add_forms, TOK_COMBINING, TOK_COMPOSE, b->compatible);
    if (b->lower) add_kept(o, add_lower, TOK_LOWER, TOK_LOWER, 0);
    add(o, TOK_CHARSMAP, b->charsmap.s, b->charsmap.n);
    add(o, TOK_CHARSMAP_TEXT, b->charsmap_text.s, b->charsmap_text.n);
}

/* ---- the model ----------------------------------------------------------------------------------------------------------- */

static void add_pieces(Blob *o)
{
    TokBuild *b = o->b;
    for (int i = 0; i < b->size; i++) {
        add_u32(o, TOK_PIECES, tok_pool(b, b->pieces.at[i].text));
        add(o, TOK_KINDS, &b->pieces.at[i].kind, 1);
    }
    for (int i = 0; i < b->pieces.count && b->head[TOK_HEAD_MODEL] == TOK_UNIGRAM; i++) add_f64(o, TOK_SCORES, b->pieces.at[i].score);
    add_u32(o, TOK_PIECES, (uint32_t)b->text.size);
    for (uint32_t i = 0; i < 2 * b->trie.count; i++) add_u32(o, TOK_TRIE, b->trie.units[i]);
}

/* The piece of each byte: b->bytes if given; else the piece of that byte in a byte-level
 * vocabulary, or <0xNN>. */
static void add_bytes(Blob *o)
{
    for (int i = 0; i < 256; i++) {
        const char one = (char)i;
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        if (o->b->bytes_given) add_u32(o, TOK_BYTES, o->b->bytes[i]);
        else add_u32(o, TOK_BYTES, tok_id(o->b, o->b->byte_level ? (TokString){ &one, 1 } : tok_string(name)));
    }
}

/* If a pair has two merges, the later one replaces the earlier. */
static void add_merges(Blob *o)
{
    const TokBuild *b = o->b;
    uint32_t slots = 4, kept = 0;
    if (!b->merges.count) return;
    while (slots < 2 * (uint32_t)b->merges.count) slots *= 2;
    uint32_t *slot = arena_array(b->arena, slots, sizeof *slot);
    for (int i = 0; i < b->merges.count; i++) {
        const TokMerge m = b->merges.at[i];
        uint32_t at = rt_tok_merge_hash(m.left, m.right) & (slots - 1);
        while (slot[at] && (b->merges.at[slot[at] - 1].left != m.left || b->merges.at[slot[at] - 1].right != m.right)) at = (at + 1) & (slots - 1);
        if (!slot[at]) slot[at] = ++kept;
        b->merges.at[slot[at] - 1] = m;         /* its index is at most i */
    }
    for (uint32_t i = 0; i < kept; i++) {
        const TokMerge m = b->merges.at[i];
        add_u32(o, TOK_MERGES, m.left);
        add_u32(o, TOK_MERGES, m.right);
        add_u32(o, TOK_MERGES, m.rank);
        add_u32(o, TOK_MERGES, m.merged);
    }
    for (uint32_t i = 0; i < slots; i++) add_u32(o, TOK_MERGE_SLOTS, slot[i]);
}

/* Needs the section that add_bytes wrote. */
static void add_joins(Blob *o)
{
    const unsigned char *p = o->section[TOK_BYTES].data;
    uint32_t bytes[256], words = 0;
    for (int i = 0; i < 256; i++) bytes[i] = p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16 | (uint32_t)p[4 * i + 3] << 24;
    const uint32_t *bits = tok_joins(o->b, bytes, &words);
    for (uint32_t i = 0; i < words; i++) add_u32(o, TOK_JOINS, bits[i]);
}

/* ---- steps ---------------------------------------------------------------------------------------------------------------- */

static bool class_has(const TokClass *c, uint32_t x)
{
    bool in = c->properties >> unicode_property((int32_t)x) & 1;
    for (int i = 0; i < c->count && !in; i++) in = x >= c->ranges[i].first && x <= c->ranges[i].last;
    return in != c->negated;
}

static void add_class(Blob *o, const TokClass *c)
{
    for (uint32_t word = 0; word < 4; word++) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 32; i++) bits |= (uint32_t)class_has(c, 32 * word + i) << i;
        add_u32(o, TOK_CLASSES, bits);
    }
    add_u32(o, TOK_CLASSES, (uint32_t)c->properties);
    add_u32(o, TOK_CLASSES, (uint32_t)(c->properties >> 32));
    add_u32(o, TOK_CLASSES, (uint32_t)(o->section[TOK_RANGES].n / 8));
    add_u32(o, TOK_CLASSES, (uint32_t)c->count);
    add_u32(o, TOK_CLASSES, c->negated);
    add_u32(o, TOK_CLASSES, 0);
    for (int i = 0; i < c->count; i++) {
        add_u32(o, TOK_RANGES, c->ranges[i].first);
        add_u32(o, TOK_RANGES, c->ranges[i].last);
    }
}

static void add_words(Blob *o, RtTokSection s, const void *words, size_t count)
{
    const uint32_t *w = words;
    for (size_t i = 0; i < count; i++) add_u32(o, s, w[i]);
}

static void add_steps(Blob *o)
{
    const TokBuild *b = o->b;
    const size_t words = sizeof(RtTokOp) / 4;
    add_words(o, TOK_OPS, b->normalisers.at, words * (size_t)b->normalisers.count);
    add_words(o, TOK_OPS, b->splits.at, words * (size_t)b->splits.count);
    add_words(o, TOK_OPS, b->decoders.at, words * (size_t)b->decoders.count);
    add_words(o, TOK_TEMPLATE, b->single.at, 3 * (size_t)b->single.count);
    add_words(o, TOK_TEMPLATE, b->pair.at, 3 * (size_t)b->pair.count);
    for (int i = 0; i < b->nodes.count; i++) add_words(o, TOK_NODES, &b->nodes.at[i], TOK_NODE_WORDS);
    for (int i = 0; i < b->classes.count; i++) add_class(o, &b->classes.at[i]);
}

static void settle_head(TokBuild *b)
{
    uint32_t *h = b->head;
    h[TOK_HEAD_PIECES] = (uint32_t)b->size;
    h[TOK_HEAD_SYMBOLS] = (uint32_t)b->pieces.count;
    if (b->byte_level) h[TOK_HEAD_FLAGS] |= TOK_BYTE_LEVEL;
    h[TOK_HEAD_NORMALISERS] = (uint32_t)b->normalisers.count;
    h[TOK_HEAD_SPLITS] = (uint32_t)b->splits.count;
    h[TOK_HEAD_DECODERS] = (uint32_t)b->decoders.count;
    h[TOK_HEAD_NORMAL_GROWTH] = (uint32_t)ceil(b->growth);
    h[TOK_HEAD_NORMAL_EXTRA] = (uint32_t)b->extra + 64;
    h[TOK_HEAD_FORM_GROWTH] = (uint32_t)ceil(b->form_growth);
    h[TOK_HEAD_SPLIT_GROWTH] = (uint32_t)ceil(b->split_growth);
    h[TOK_HEAD_SPLIT_EXTRA] = (uint32_t)b->split_extra + 64;
    h[TOK_HEAD_SINGLE] = (uint32_t)b->single.count;
    h[TOK_HEAD_PAIR] = (uint32_t)b->pair.count;
}

/* ---- the whole -------------------------------------------------------------------------------------------------------------- */

static TokenizerBlob join(Blob *o)
{
    Section all = { 0 };
    uint32_t at = 16 + 8 * TOK_SECTIONS;
    Blob head = { .b = o->b };
    add_u32(&head, 0, RT_TOK_MAGIC);
    add_u32(&head, 0, RT_TOK_VERSION);
    add_u32(&head, 0, 0);
    add_u32(&head, 0, TOK_SECTIONS);
    for (int i = 0; i < TOK_SECTIONS; i++) {
        at = (at + 7) & ~UINT32_C(7);
        add_u32(&head, 0, at);
        add_u32(&head, 0, (uint32_t)o->section[i].n);
        at += (uint32_t)o->section[i].n;
    }
    all.n = (at + 7) & ~UINT32_C(7);
    all.data = arena_alloc(o->b->arena, all.n);
    memcpy(all.data, head.section[0].data, head.section[0].n);
    for (int k = 0; k < 4; k++) all.data[8 + k] = (unsigned char)(all.n >> 8 * k);
    at = 16 + 8 * TOK_SECTIONS;
    for (int i = 0; i < TOK_SECTIONS; i++) {
        at = (at + 7) & ~UINT32_C(7);
        if (o->section[i].n) memcpy(all.data + at, o->section[i].data, o->section[i].n);
        at += (uint32_t)o->section[i].n;
    }
    return (TokenizerBlob){ all.data, all.n, o->b->chat, o->b->origin };
}

/* Buffers for normalising added tokens, reused from one to the next. */
typedef struct Room { char *out, *scratch; size_t cap, bytes; } Room;

static void make_room(Arena *a, char **p, size_t *room, size_t wanted)
{
    if (wanted <= *room) return;
    *p = arena_alloc(a, *room = 2 * wanted);
}

/* The text of an added token after the normalisers. */
static TokString normalised(TokBuild *b, const RtTokenizer *t, Room *r, TokString text)
{
    size_t used = 0;
    make_room(b->arena, &r->scratch, &r->bytes, rt_tokenizer_scratch_bytes(t, text.n, 0));
    make_room(b->arena, &r->out, &r->cap, 16 * text.n * (t->head[TOK_HEAD_NORMAL_GROWTH] + 1) + 4096);
    if (rt_tokenizer_normalise(t, text.s, text.n, r->out, r->cap, &used, r->scratch, r->bytes) != RT_OK)
        tok_refuse(b, "the added token \"%.60s\" cannot be normalized", text.s);
    return (TokString){ arena_copy(b->arena, r->out, used), used };
}

static void add_added(Blob *o, const RtTokenizer *t)
{
    TokBuild *b = o->b;
    TokEntry *entry[2];
    int count[2] = { 0, 0 };
    Room room = { 0 };
    for (int i = 0; i < 2; i++) entry[i] = arena_array(b->arena, (size_t)b->added.count + 1, sizeof *entry[i]);
    for (int i = 0; i < b->added.count; i++) {
        const TokAdded *x = &b->added.at[i];
        const TokString key = x->normalised && !x->verbatim ? normalised(b, t, &room, x->text) : x->text;
        add_u32(o, TOK_ADDED, x->id);
        add_u32(o, TOK_ADDED, x->flags);
        if (key.n) entry[x->normalised][count[x->normalised]++] = (TokEntry){ key, (uint32_t)i };
    }
    for (int i = 0; i < 2; i++) {
        if (!count[i]) continue;
        const TokTrie trie = tok_trie(b->arena, entry[i], count[i]);
        for (uint32_t k = 0; k < 2 * trie.count; k++) add_u32(o, i ? TOK_ADDED_NORMAL : TOK_ADDED_RAW, trie.units[k]);
    }
}

/* Without a template: the texts, and no special tokens. */
static void settle_template(TokBuild *b)
{
    if (b->template_given) return;
    tok_item(b, false, TOK_ITEM_A, 0, 0);
    tok_item(b, true, TOK_ITEM_A, 0, 0);
    tok_item(b, true, TOK_ITEM_B, 0, 1);
}

/* False after an error: the steps can lengthen a text too much. The header stores their growth in
 * 32 bits, and buffers for greater growth would be too large anyway. */
static bool grows_little(TokBuild *b)
{
    enum { MOST = 1000, MOST_EXTRA = 1 << 24 };
    const bool grows = b->growth > MOST || b->form_growth > MOST || b->split_growth > MOST;
    const bool little = !grows && b->extra <= MOST_EXTRA && b->split_extra <= MOST_EXTRA;
    if (!little)
        tok_refuse(b, "the normalizers or pre_tokenizers can lengthen a text %s", grows ? "more than a thousandfold" : "by more than 16 MiB");
    return little;
}

bool tok_finish(TokBuild *b, TokenizerBlob *out)
{
    Blob o = { .b = b };
    RtTokenizer t;
    if (tok_failed(b)) return false;
    settle_template(b);
    for (int i = 0; i < b->added.count; i++)
        if (b->added.at[i].flags & TOK_ADDED_SINGLE_WORD && b->head[TOK_HEAD_WORD_CLASS] == RT_TOK_NONE) {
            b->rust_words = true;
            b->head[TOK_HEAD_WORD_CLASS] = (uint32_t)b->classes.count;
            *TOK_NEW(b, &b->classes) = tok_word_class(b, false);
            b->properties = true;
        }
    if (!grows_little(b)) return false;
    settle_head(b);
    add_words(&o, TOK_HEAD, b->head, TOK_HEADS);
    add_pieces(&o);
    add_bytes(&o);
    add_merges(&o);
    add_joins(&o);
    add_steps(&o);
    add_tables(&o);
    add(&o, TOK_TEXT, b->text.data, b->text.size);
    *out = join(&o);
    if (rt_tokenizer_open(&t, out->data, out->size) != RT_OK) die("the runtime rejects the tokenizer made from %s", b->file);
    if (b->added.count) {
        add_added(&o, &t);
        *out = join(&o);
        if (rt_tokenizer_open(&t, out->data, out->size) != RT_OK) die("the runtime rejects the tokenizer made from %s", b->file);
    }
    return !tok_failed(b);
}
