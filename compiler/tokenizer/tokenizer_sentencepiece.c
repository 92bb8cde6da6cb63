/* tokenizer_sentencepiece.c: build a tokenizer from SentencePiece's pieces with scores and types,
 * for the readers of .model and GGUF files; and import llama2.c's tokenizer.bin.
 *
 * A BPE with scores merges the pair whose concatenation is the piece with the highest score. So
 * every way to write a piece as two symbols is a merge, ranked by the score of the piece. A
 * character that is not a piece becomes a symbol after the pieces. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_build.h"

static const char mark[] = "\xE2\x96\x81";

/* ---- merges from scores ----------------------------------------------------------------------------------------------- */

static int by_score(const void *x, const void *y)
{
    const float a = *(const float *)x, b = *(const float *)y;
    return a > b ? -1 : a < b;
}

static uint32_t rank_of(const float *scores, int n, float score)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (scores[middle] > score) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)low;
}

static size_t character_at(TokString s, size_t at)
{
    int32_t c;
    const int n = utf8_next(s.s + at, s.n - at, &c);
    return n ? (size_t)n : 1;
}

/* For every character of a longer piece, add a symbol unless the character itself is a piece. */
static void add_symbols(TokBuild *b)
{
    const int pieces = b->pieces.count;
    for (int i = 0; i < pieces; i++) {
        const TokString text = b->pieces.at[i].key;
        const size_t first = text.s && text.n ? character_at(text, 0) : 0;
        for (size_t at = 0, n; first < text.n && at < text.n; at += n) {
            n = character_at(text, at);
            const TokString one = { text.s + at, n };
            if (tok_id(b, one) == RT_TOK_NONE) *TOK_NEW(b, &b->pieces) = (TokPiece){ .text = one, .key = one };
        }
    }
    if (b->pieces.count > pieces) tok_index(b);
}

static void make_merges(TokBuild *b, const float *score)
{
    float *sorted = arena_array(b->arena, (size_t)b->size + 1, sizeof *sorted);
    for (int i = 0; i < b->size; i++) sorted[i] = score[i];
    qsort(sorted, (size_t)b->size, sizeof *sorted, by_score);
    add_symbols(b);
    for (int i = 0; i < b->size; i++) {
        const TokString text = b->pieces.at[i].key;
        if (!text.s || tok_id(b, text) != (uint32_t)i) continue;
        for (size_t at = text.n ? character_at(text, 0) : 0; at < text.n; at += character_at(text, at)) {
            const uint32_t left = tok_id(b, (TokString){ text.s, at }), right = tok_id(b, (TokString){ text.s + at, text.n - at });
            if (left != RT_TOK_NONE && right != RT_TOK_NONE) tok_merge(b, left, right, rank_of(sorted, b->size, score[i]), (uint32_t)i);
        }
    }
}

/* ---- the common part ---------------------------------------------------------------------------------------------------- */

/* The byte of a text from <0x00> to <0xFF>, whose digits are upper case; -1 for any other text. */
static int byte_of(TokString s)
{
    static const char digits[] = "0123456789ABCDEF";
    if (s.n != 6 || memcmp(s.s, "<0x", 3) != 0 || s.s[5] != '>') return -1;
    const char *high = memchr(digits, s.s[3], 16), *low = memchr(digits, s.s[4], 16);
    return high && low ? (int)(16 * (high - digits) + (low - digits)) : -1;
}

/* Find the byte pieces: there must be all 256, each once, or none. */
static void find_bytes(TokBuild *b, const int32_t *type)
{
    int found = 0;
    b->bytes_given = true;
    for (int i = 0; i < 256; i++) b->bytes[i] = RT_TOK_NONE;
    for (int i = 0; i < b->size; i++) {
        const TokString text = b->pieces.at[i].text;
        if (type[i] != TYPE_BYTE) continue;
        const int byte = byte_of(text);
        if (byte < 0)
            tok_refuse(b, "piece %d, \"%.60s\", is of the type byte, but is not one of <0x00> to <0xFF>",
                       i, text.s);
        else if (b->bytes[byte] != RT_TOK_NONE)
            tok_refuse(b, "the pieces %u and %d are both the byte %s", b->bytes[byte], i, text.s);
        if (tok_failed(b)) return;
        b->bytes[byte] = (uint32_t)i;
        found++;
    }
    if (found % 256)
        tok_refuse(b, "found %d of the 256 byte pieces; expected all or none", found);
}

static bool is_scored_by_length(const TokSentencePieces *s, int i)
{
    return s->type[i] == TYPE_USER && s->alone && s->unigram;
}

static void settle_pieces(TokBuild *b, const TokSentencePieces *s)
{
    for (int i = 0; i < b->size; i++) {
        TokPiece *p = &b->pieces.at[i];
        const int32_t type = s->type[i];
        if (type == TYPE_CONTROL || type == TYPE_UNKNOWN) p->kind |= TOK_SPECIAL;
        if (type != TYPE_NORMAL && type != TYPE_USER && (type != TYPE_UNUSED || s->unigram)) p->key = (TokString){ 0 };
        if (type == TYPE_UNUSED && !s->unigram) tok_refuse(b, "unused pieces of a BPE model (piece %d) are not supported", i);
        if (type == TYPE_USER && p->text.n && tok_added_of_text(b, p->text) == RT_TOK_NONE)
            *TOK_NEW(b, &b->added) = (TokAdded){
                p->text, (uint32_t)i, is_scored_by_length(s, i) ? TOK_ADDED_PIECE : 0, true, false, true, false
            };
    }
}

static void settle_scores(TokBuild *b, const TokSentencePieces *s)
{
    float least = FLT_MAX, greatest = -FLT_MAX;
    for (int i = 0; i < b->size; i++) {
        b->pieces.at[i].score = (double)s->score[i];
        if (s->type[i] != TYPE_NORMAL) continue;
        least = fminf(least, s->score[i]);
        greatest = fmaxf(greatest, s->score[i]);
    }
    for (int i = 0; i < b->size; i++)
        if (is_scored_by_length(s, i))
            b->pieces.at[i].score = (double)((float)b->pieces.at[i].text.n * greatest) - 0.1;
    const double unknown = (double)(least - 10.0f);
    uint64_t bits;
    memcpy(&bits, &unknown, sizeof bits);
    b->head[TOK_HEAD_UNKNOWN_SCORE] = (uint32_t)bits;
    b->head[TOK_HEAD_UNKNOWN_SCORE_HIGH] = (uint32_t)(bits >> 32);
    b->head[TOK_HEAD_FLAGS] |= TOK_FLOAT_SCORES;
}

static void replace_mark(TokBuild *b, TokString space)
{
    RtTokOp op = tok_op(b, TOK_TO_REPLACED, space);
    op.other = tok_pool(b, tok_string(" "));
    op.other_bytes = 1;
    tok_decoder(b, op);
}

static void strip_first(TokBuild *b, const char *character, uint32_t most)
{
    RtTokOp strip = tok_op(b, TOK_TO_STRIPPED, tok_string(character));
    strip.a = most;
    strip.c = most > 1;
    tok_decoder(b, strip);
}

void tok_decode_sentencepiece(TokBuild *b, TokString space, bool prefix)
{
    if (space.n != 1) replace_mark(b, space);
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_FALLBACK });
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_FUSED });
    if (prefix) strip_first(b, " ", 1);
}

/* Decode as the library does: only marks are stripped at the beginning of a text, not blanks that
 * are pieces or bytes of their own, and an invalid byte does not affect others. */
static void decode_alone(TokBuild *b, const TokSentencePieces *s)
{
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_FUSED });
    if (s->no_extra_spaces || s->prefix) strip_first(b, mark, s->no_extra_spaces ? INT32_MAX : 1);
    replace_mark(b, tok_string(mark));
    if (s->byte_fallback) tok_decoder(b, (RtTokOp){ .kind = TOK_TO_FALLBACK, .a = 1 });
}

static void add_spaces(TokBuild *b, const TokSentencePieces *s)
{
    if (s->runs) tok_replace(b, " {2,}", " ", false);
    if (s->words) {
        const TokClass space = { .properties = ~UINT64_C(0) << 32 };
        tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = tok_class_pattern(b, space), .b = TOK_REMOVED });
    }
    if (s->words || s->runs) {
        tok_metaspace(b, tok_string(mark), TOK_PREPEND_ALWAYS, true);
        return;
    }
    RtTokOp spaces = tok_op(b, TOK_SPACES, tok_string(mark));
    spaces.a = s->no_extra_spaces;
    spaces.b = s->prefix && !s->metaspace;
    spaces.c = s->escape;
    if (spaces.a || !s->metaspace) tok_normaliser(b, spaces);
    if (s->metaspace) tok_metaspace(b, tok_string(mark), s->scheme, false);
}

bool tok_sentencepiece(TokBuild *b, const TokSentencePieces *s)
{
    if (s->charsmap.n && !tok_charsmap(b, (const unsigned char *)s->charsmap.s, s->charsmap.n, TOK_MAP_LONGEST)) return false;
    add_spaces(b, s);
    settle_pieces(b, s);
    find_bytes(b, s->type);
    if (tok_failed(b)) return false;
    tok_index(b);
    b->head[TOK_HEAD_UNKNOWN] = s->unk >= 0 && s->unk < b->size ? (uint32_t)s->unk : RT_TOK_NONE;
    b->head[TOK_HEAD_FLAGS] |= TOK_FUSE_UNKNOWN | (s->byte_fallback ? TOK_BYTE_FALLBACK : 0);
    b->head[TOK_HEAD_MODEL] = s->unigram ? TOK_UNIGRAM : TOK_BPE;
    if (s->unigram) settle_scores(b, s);
    else make_merges(b, s->score);
    if (s->alone) decode_alone(b, s);
    else tok_decode_sentencepiece(b, tok_string(s->escape ? mark : " "), s->prefix);
    tok_template_ends(b, s->add_bos ? s->bos : -1, s->add_eos ? s->eos : -1);
    return !tok_failed(b);
}

/* ---- llama2.c ------------------------------------------------------------------------------------------------------------------ */

static uint32_t word_at(const char *data, size_t at)
{
    const unsigned char *p = (const unsigned char *)data + at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The file has the length of the longest piece (u32); then, for each piece, its score (f32), its
 * length in bytes (i32) and its text. */
bool tok_import_llama2c(TokBuild *b, const char *data, size_t size)
{
    TOK_LIST(float) scores = { 0 };
    bool whole = size >= 4;
    for (size_t at = 4; whole && at < size && !tok_failed(b);) {
        const uint32_t n = size - at >= 8 ? word_at(data, at + 4) : UINT32_MAX;
        whole = n != UINT32_MAX && n <= size - at - 8 && !isnan(tok_float(word_at(data, at)));
        if (!whole) break;
        *TOK_NEW(b, &scores) = tok_float(word_at(data, at));
        tok_piece(b, b->size, (TokString){ arena_copy(b->arena, data + at + 8, n), n }, true);
        at += 8 + (size_t)n;
    }
    if (!tok_failed(b) && (!whole || b->size < 259))
        tok_refuse(b, "not a llama2.c tokenizer: %s", whole ? "fewer than 259 pieces" : "truncated, or a score is NaN");
    if (tok_failed(b)) return false;
    b->bytes_given = true;
    for (int i = 0; i < 256; i++) b->bytes[i] = (uint32_t)i + 3;
    for (int i = 0; i < 3; i++) b->pieces.at[i].kind |= TOK_SPECIAL;
    tok_index(b);
    tok_normaliser(b, tok_op(b, TOK_PREPEND, tok_string(" ")));
    b->head[TOK_HEAD_UNKNOWN] = 0;
    b->head[TOK_HEAD_FLAGS] |= TOK_BYTE_FALLBACK;
    b->head[TOK_HEAD_MODEL] = TOK_BPE;
    make_merges(b, scores.at);
    tok_decode_sentencepiece(b, tok_string(" "), true);
    tok_template_begin(b, 1);
    return !tok_failed(b);
}
