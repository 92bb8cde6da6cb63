/* rt_tokenizer_open.c: check a blob once: offsets, indices into other tables, and that every walk
 * over nodes ends. Ids, steps in tries and the charsmap are checked where they are used. */
#include "rt_tokenizer_parts.h"

enum { HEADER_BYTES = 16, OPS_MOST = 32, SEQUENCE_MOST = 18, JOINS_MOST = 1 << 20 };

/* ---- sections ------------------------------------------------------------------------------------------------- */

static bool text_fits(const RtTokenizer *t, uint32_t at, uint32_t n) { return at <= t->bytes[TOK_TEXT] && n <= t->bytes[TOK_TEXT] - at; }

static bool find_sections(RtTokenizer *t, const unsigned char *blob, size_t bytes)
{
    if (bytes < HEADER_BYTES + 8 * TOK_SECTIONS || bytes > UINT32_MAX) return false;
    if (rt_tok_u32(blob) != RT_TOK_MAGIC || rt_tok_u32(blob + 4) != RT_TOK_VERSION) return false;
    if (rt_tok_u32(blob + 8) > bytes || rt_tok_u32(blob + 12) != TOK_SECTIONS) return false;
    const uint32_t all = rt_tok_u32(blob + 8);
    rt_tokenizer_literal(t, NULL, 0);
    for (int i = 0; i < TOK_SECTIONS; i++) {
        const uint32_t at = rt_tok_u32(blob + HEADER_BYTES + 8 * i), n = rt_tok_u32(blob + HEADER_BYTES + 8 * i + 4);
        if (at > all || n > all - at) return false;
        t->section[i] = blob + at;
        t->bytes[i] = n;
    }
    if (t->bytes[TOK_HEAD] != 4 * TOK_HEADS) return false;
    for (int i = 0; i < TOK_HEADS; i++) t->head[i] = rt_tok_at(t, TOK_HEAD, (size_t)i);
    t->source = t->target = RT_TOK_NONE;
    if (!text_fits(t, t->head[TOK_HEAD_PROMPT], t->head[TOK_HEAD_PROMPT_BYTES])) return false;
    t->prompt = (const char *)rt_tok_text(t, t->head[TOK_HEAD_PROMPT]), t->prompt_bytes = t->head[TOK_HEAD_PROMPT_BYTES];
    return true;
}

static bool is_multiple(const RtTokenizer *t, RtTokSection s, uint32_t size) { return t->bytes[s] % size == 0; }

static uint32_t entries(const RtTokenizer *t, RtTokSection s, uint32_t size) { return t->bytes[s] / size; }

/* ---- vocabulary ----------------------------------------------------------------------------------------------- */

static bool pieces_are_good(const RtTokenizer *t)
{
    const uint32_t n = t->head[TOK_HEAD_PIECES];
    if (n > INT32_MAX / 16 || t->bytes[TOK_PIECES] != 4 * (n + 1) || t->bytes[TOK_KINDS] != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (rt_tok_at(t, TOK_PIECES, i) > rt_tok_at(t, TOK_PIECES, i + 1)) return false;
    return rt_tok_at(t, TOK_PIECES, n) <= t->bytes[TOK_TEXT];
}

/* True if a trie is intact, and its values are below `limit`. */
static bool trie_is_good(const RtTokenizer *t, RtTokSection s, uint32_t limit)
{
    const uint32_t units = entries(t, s, 8);
    if (!is_multiple(t, s, 8)) return false;
    for (uint32_t i = 0; i < units; i++) {
        const uint32_t check = rt_tok_at(t, s, 2 * (size_t)i + 1);
        if (check > units) return false;
        if (check && rt_tok_at(t, s, 2 * (size_t)(check - 1)) == i && rt_tok_at(t, s, 2 * (size_t)i) >= limit) return false;
    }
    return true;
}

static bool merges_are_good(const RtTokenizer *t)
{
    const uint32_t slots = entries(t, TOK_MERGE_SLOTS, 4), merges = entries(t, TOK_MERGES, 16), joins = entries(t, TOK_JOINS, 4);
    uint32_t used = 0;
    if (!is_multiple(t, TOK_JOINS, 4) || joins & (joins - 1) || joins > JOINS_MOST) return false;
    if (!is_multiple(t, TOK_MERGES, 16) || !is_multiple(t, TOK_MERGE_SLOTS, 4) || slots & (slots - 1)) return false;
    for (uint32_t i = 0; i < slots; i++) {
        const uint32_t slot = rt_tok_at(t, TOK_MERGE_SLOTS, i);
        if (slot > merges) return false;
        used += slot != 0;
    }
    return !slots || used < slots;
}

static bool model_is_good(const RtTokenizer *t)
{
    const uint32_t *h = t->head, n = h[TOK_HEAD_PIECES];
    if (h[TOK_HEAD_MODEL] >= TOK_MODELS || h[TOK_HEAD_SYMBOLS] < n) return false;
    if (h[TOK_HEAD_UNKNOWN] >= n && h[TOK_HEAD_UNKNOWN] != RT_TOK_NONE) return false;
    const bool symbols = h[TOK_HEAD_MODEL] == TOK_BPE || h[TOK_HEAD_MODEL] == TOK_UNIGRAM;
    if (!t->bytes[TOK_TRIE] || !trie_is_good(t, TOK_TRIE, symbols ? h[TOK_HEAD_SYMBOLS] : n)) return false;
    if (h[TOK_HEAD_MODEL] == TOK_UNIGRAM && t->bytes[TOK_SCORES] != 8 * (uint64_t)h[TOK_HEAD_SYMBOLS]) return false;
    if (t->bytes[TOK_BYTES] != 4 * 256 || !merges_are_good(t)) return false;
    return text_fits(t, h[TOK_HEAD_PREFIX], h[TOK_HEAD_PREFIX_BYTES]) && text_fits(t, h[TOK_HEAD_SUFFIX], h[TOK_HEAD_SUFFIX_BYTES]);
}

/* ---- added tokens and the template ---------------------------------------------------------------------------- */

static bool added_is_good(const RtTokenizer *t)
{
    const uint32_t n = entries(t, TOK_ADDED, 8), word = t->head[TOK_HEAD_WORD_CLASS];
    if (!is_multiple(t, TOK_ADDED, 8) || !trie_is_good(t, TOK_ADDED_RAW, n) || !trie_is_good(t, TOK_ADDED_NORMAL, n)) return false;
    return word == RT_TOK_NONE || word < entries(t, TOK_CLASSES, 4 * TOK_CLASS_WORDS);
}

static bool template_is_good(const RtTokenizer *t)
{
    const uint64_t n = (uint64_t)t->head[TOK_HEAD_SINGLE] + t->head[TOK_HEAD_PAIR];
    if (t->bytes[TOK_TEMPLATE] != 12 * n || t->head[TOK_HEAD_MOST_IDS] > INT32_MAX) return false;
    for (uint32_t i = 0; i < n; i++)
        if (rt_tok_at(t, TOK_TEMPLATE, 3 * (size_t)i) > TOK_ITEM_B || rt_tok_at(t, TOK_TEMPLATE, 3 * (size_t)i + 2) > 255) return false;
    return true;
}

/* ---- patterns ------------------------------------------------------------------------------------------------- */

static bool nodes_are_good(const RtTokenizer *t)
{
    const uint32_t n = entries(t, TOK_NODES, 4 * TOK_NODE_WORDS), classes = entries(t, TOK_CLASSES, 4 * TOK_CLASS_WORDS);
    if (!is_multiple(t, TOK_NODES, 4 * TOK_NODE_WORDS) || n > TOK_NODES_MOST) return false;
    for (uint32_t i = 0; i < n; i++) {
        const size_t at = (size_t)i * TOK_NODE_WORDS;
        const uint32_t kind = rt_tok_at(t, TOK_NODES, at), next = rt_tok_at(t, TOK_NODES, at + 1), a = rt_tok_at(t, TOK_NODES, at + 2);
        if (kind >= TOK_NODE_KINDS) return false;
        if (kind != TOK_NODE_MATCH && (next <= i || next >= n)) return false;
        if ((kind == TOK_NODE_EITHER || kind == TOK_NODE_AHEAD) && (a <= i || a >= n)) return false;
        if (rt_tok_at(t, TOK_NODES, at + 7) > TOK_NODES_MOST) return false;
        if (kind == TOK_NODE_CHARS && (a >= classes || rt_tok_at(t, TOK_NODES, at + 3) > rt_tok_at(t, TOK_NODES, at + 4))) return false;
    }
    return true;
}

static bool classes_are_good(const RtTokenizer *t)
{
    const uint32_t n = entries(t, TOK_CLASSES, 4 * TOK_CLASS_WORDS), ranges = entries(t, TOK_RANGES, 8);
    if (!is_multiple(t, TOK_CLASSES, 4 * TOK_CLASS_WORDS) || !is_multiple(t, TOK_RANGES, 8)) return false;
    for (uint32_t i = 0; i < n; i++) {
        const size_t at = (size_t)i * TOK_CLASS_WORDS;
        const uint32_t first = rt_tok_at(t, TOK_CLASSES, at + 6), count = rt_tok_at(t, TOK_CLASSES, at + 7);
        const bool properties = rt_tok_at(t, TOK_CLASSES, at + 4) || rt_tok_at(t, TOK_CLASSES, at + 5);
        if (first > ranges || count > ranges - first || (properties && !t->bytes[TOK_PROPERTIES])) return false;
    }
    return true;
}

/* ---- tables by code point -------------------------------------------------------------------------------------- */

/* True if a table of two stages is intact or absent. Values of `width` 1 must be below `limit`. */
static bool stages_are_good(const RtTokenizer *t, RtTokSection s, uint32_t width, unsigned limit)
{
    const uint32_t n = t->bytes[s], index = 2 * RT_TOK_BLOCKS;
    const unsigned char *p = t->section[s];
    if (!n) return true;
    if (n < index || (n - index) % (256 * width)) return false;
    for (uint32_t i = 0; i < RT_TOK_BLOCKS; i++)
        if ((uint32_t)(p[2 * i] | p[2 * i + 1] << 8) >= (n - index) / (256 * width)) return false;
    for (uint32_t i = index; width == 1 && i < n; i++)
        if (p[i] >= limit) return false;
    return true;
}

static bool decompositions_are_good(const RtTokenizer *t)
{
    const uint32_t words = entries(t, TOK_SEQUENCES, 4);
    const unsigned char *p = t->section[TOK_DECOMPOSE];
    if (!stages_are_good(t, TOK_DECOMPOSE, 2, 0) || !is_multiple(t, TOK_SEQUENCES, 4) || !is_multiple(t, TOK_COMPOSE, 12)) return false;
    for (uint32_t i = 2 * RT_TOK_BLOCKS; i < t->bytes[TOK_DECOMPOSE]; i += 2) {
        const uint32_t at = (uint32_t)(p[i] | p[i + 1] << 8);
        if (!at) continue;
        const uint32_t n = at < words ? rt_tok_at(t, TOK_SEQUENCES, at) : SEQUENCE_MOST + 1;
        if (n > SEQUENCE_MOST || n >= words - at) return false;
        for (uint32_t k = 1; k <= n; k++)
            if (rt_tok_at(t, TOK_SEQUENCES, at + k) >= RT_TOK_PLANES) return false;
    }
    for (uint32_t i = 0; i < entries(t, TOK_COMPOSE, 12); i++)
        if (rt_tok_at(t, TOK_COMPOSE, 3 * (size_t)i + 2) >= RT_TOK_PLANES) return false;
    return true;
}

static bool tables_are_good(const RtTokenizer *t)
{
    if (!is_multiple(t, TOK_LOWER, 12) || !is_multiple(t, TOK_CHARSMAP, 4)) return false;
    for (uint32_t i = 0; i < entries(t, TOK_LOWER, 12); i++)
        if (rt_tok_at(t, TOK_LOWER, 3 * (size_t)i + 1) >= RT_TOK_PLANES || rt_tok_at(t, TOK_LOWER, 3 * (size_t)i + 2) >= RT_TOK_PLANES) return false;
    return stages_are_good(t, TOK_PROPERTIES, 1, 64) && stages_are_good(t, TOK_COMBINING, 1, 256) &&
           stages_are_good(t, TOK_GRAPHEMES, 1, TOK_BREAK_PICTURE + 1) && decompositions_are_good(t);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* The kinds of operations in each part of the pipeline. */
static const struct { RtTokOpKind first, last; RtTokHead count; } parts[] = {
    { TOK_CLEAN, TOK_SPACES, TOK_HEAD_NORMALISERS },
    { TOK_SPLIT, TOK_METASPACE, TOK_HEAD_SPLITS },
    { TOK_TO_BYTES, TOK_TO_JOINED, TOK_HEAD_DECODERS },
};

static bool op_is_good(const RtTokenizer *t, const RtTokOp *op)
{
    if (!text_fits(t, op->text, op->text_bytes) || !text_fits(t, op->other, op->other_bytes)) return false;
    if ((op->kind == TOK_SPLIT || op->kind == TOK_REPLACE) && op->a >= entries(t, TOK_NODES, 4 * TOK_NODE_WORDS)) return false;
    if (op->kind == TOK_SPLIT && op->b >= TOK_BEHAVIOURS) return false;
    if ((op->kind == TOK_CLEAN || op->kind == TOK_DROP) && !t->bytes[TOK_PROPERTIES]) return false;
    if (op->kind == TOK_FORM && (!t->bytes[TOK_COMBINING] || !t->bytes[TOK_DECOMPOSE])) return false;
    return op->kind != TOK_MAP_GRAPHEMES || t->bytes[TOK_GRAPHEMES];
}

static bool ops_are_good(const RtTokenizer *t)
{
    uint32_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const uint32_t n = t->head[parts[i].count];
        if (n > OPS_MOST || t->bytes[TOK_OPS] < (at + n) * sizeof(RtTokOp)) return false;
        for (; at < t->head[TOK_HEAD_NORMALISERS] * (i > 0) + t->head[TOK_HEAD_SPLITS] * (i > 1) + n; at++) {
            const RtTokOp op = rt_tok_op(t, at);
            if (op.kind < (uint32_t)parts[i].first || op.kind > (uint32_t)parts[i].last || !op_is_good(t, &op)) return false;
        }
    }
    return true;
}

rt_status rt_tokenizer_view(RtTokenizer *t, const void *blob, size_t bytes) { return find_sections(t, blob, bytes) ? RT_OK : RT_BAD_WEIGHTS; }

rt_status rt_tokenizer_open(RtTokenizer *t, const void *blob, size_t bytes)
{
    const bool good = find_sections(t, blob, bytes) && pieces_are_good(t) && model_is_good(t) && added_is_good(t) && template_is_good(t) &&
                      nodes_are_good(t) && classes_are_good(t) && tables_are_good(t) && ops_are_good(t);
    return good ? RT_OK : RT_BAD_WEIGHTS;
}
