/* rt_tokenizer_normalise.c: run the normalisers one after another; each reads one text and writes
 * another. A replacement has the origin of the character that it replaces. */
#include "rt_tokenizer_parts.h"

/* A place in a text, and the character there. */
typedef struct Cursor { const TokText *x; size_t at, next; int32_t c; uint32_t begin, end; } Cursor;

static bool advance(Cursor *k)
{
    if (k->next >= k->x->n) return false;
    k->at = k->next;
    k->next += (size_t)rt_tok_character(k->x->s + k->at, k->x->n - k->at, &k->c);
    k->begin = rt_tok_begin(k->x, k->at);
    k->end = rt_tok_end(k->x, k->next - 1);
    return true;
}

static void keep(TokWork *w, TokText *out, const Cursor *k)
{
    rt_tok_add(w, out, k->x->s + k->at, k->next - k->at, k->begin, k->end);
}

static unsigned category(const RtTokenizer *t, int32_t c) { return rt_tok_lookup(t, TOK_PROPERTIES, c, 1); }

/* ---- character by character --------------------------------------------------------------------------------- */

static void clean(TokWork *w, const TokText *in, TokText *out)
{
    for (Cursor k = { .x = in }; advance(&k);) {
        const bool blank = k.c == '\t' || k.c == '\n' || k.c == '\r';
        const unsigned kind = category(w->t, k.c) & 31;
        if (!k.c || k.c == 0xFFFD || (!blank && (kind == TOK_CC || kind == TOK_CF || kind == TOK_CO))) continue;
        if (rt_tok_space(k.c)) rt_tok_add(w, out, (const unsigned char *)" ", 1, k.begin, k.end);
        else keep(w, out, &k);
    }
}

/* The blocks that BERT's tokenizer calls Chinese. */
static bool is_chinese(int32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

static void space_chinese(TokWork *w, const TokText *in, TokText *out)
{
    const unsigned char *space = (const unsigned char *)" ";
    for (Cursor k = { .x = in }; advance(&k);) {
        const bool chinese = is_chinese(k.c);
        if (chinese) rt_tok_add(w, out, space, 1, k.begin, k.end);
        keep(w, out, &k);
        if (chinese) rt_tok_add(w, out, space, 1, k.begin, k.end);
    }
}

static void drop(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    const uint64_t properties = op->a | (uint64_t)op->b << 32;
    for (Cursor k = { .x = in }; advance(&k);)
        if (!(properties >> category(w->t, k.c) & 1)) keep(w, out, &k);
}

static const unsigned char *find_lower(const RtTokenizer *t, int32_t c)
{
    size_t low = 0, high = t->bytes[TOK_LOWER] / 12;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (rt_tok_at(t, TOK_LOWER, 3 * middle) < (uint32_t)c) low = middle + 1;
        else high = middle;
    }
    return low < t->bytes[TOK_LOWER] / 12 && rt_tok_at(t, TOK_LOWER, 3 * low) == (uint32_t)c ? t->section[TOK_LOWER] + 12 * low : NULL;
}

static void lowercase(TokWork *w, const TokText *in, TokText *out)
{
    for (Cursor k = { .x = in }; advance(&k);) {
        const unsigned char *lower = k.c < 128 ? NULL : find_lower(w->t, k.c);
        if (k.c >= 'A' && k.c <= 'Z') rt_tok_add_character(w, out, k.c + 32, k.begin, k.end);
        else if (!lower) keep(w, out, &k);
        else {
            rt_tok_add_character(w, out, (int32_t)rt_tok_u32(lower + 4), k.begin, k.end);
            if (rt_tok_u32(lower + 8)) rt_tok_add_character(w, out, (int32_t)rt_tok_u32(lower + 8), k.begin, k.end);
        }
    }
}

/* ---- the whole text ------------------------------------------------------------------------------------------- */

static void keep_range(TokWork *w, TokText *out, const TokText *in, size_t begin, size_t end)
{
    Cursor k = { .x = in, .next = begin };
    while (k.next < end && advance(&k)) keep(w, out, &k);
}

static void strip(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    size_t begin = 0, end = in->n;
    int32_t c;
    for (int n; op->a && begin < end; begin += (size_t)n) {
        n = rt_tok_character(in->s + begin, end - begin, &c);
        if (!rt_tok_space(c)) break;
    }
    for (size_t at; op->b && end > begin; end = at) {
        at = rt_tok_back(in->s, end);
        rt_tok_character(in->s + at, end - at, &c);
        if (!rt_tok_space(c)) break;
    }
    keep_range(w, out, in, begin, end);
}

static void normalise_replace(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    Cursor k = { .x = in };
    const size_t used = w->used;
    TokMatcher m;
    if (!rt_tok_matcher(w, &m, op->a, in->s, in->n)) return;
    while (k.next < in->n) {
        const size_t end = rt_tok_match(&m, k.next);
        if (end == SIZE_MAX || end == k.next) {
            advance(&k);
            keep(w, out, &k);
            continue;
        }
        /* The origin is that of the last character replaced, as in Hugging Face. */
        const size_t last = rt_tok_back(in->s, end);
        rt_tok_add(w, out, rt_tok_text(w->t, op->text), op->text_bytes, rt_tok_begin(in, last), rt_tok_end(in, end - 1));
        k.next = end;
    }
    w->used = used;
}

static void prepend(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    Cursor k = { .x = in };
    if (!advance(&k)) return;
    rt_tok_add(w, out, rt_tok_text(w->t, op->text), op->text_bytes, k.begin, k.end);
    keep_range(w, out, in, 0, in->n);
}

/* SentencePiece: drop spaces at both ends and repeated ones, add a prefix, and replace spaces with
 * a mark, each only if `op` says so. */
static void spaces(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    const unsigned char *mark = rt_tok_text(w->t, op->text), *space = (const unsigned char *)" ";
    size_t end = in->n, held = 0;
    bool any = false;
    while (op->a && end && in->s[end - 1] == ' ') end--;
    for (Cursor k = { .x = in }; k.next < end && advance(&k);) {
        if (op->a && k.c == ' ' && (!any || held)) continue;
        if (!any && op->b) rt_tok_add(w, out, op->c ? mark : space, op->c ? op->text_bytes : 1, k.begin, k.begin);
        any = true;
        held = k.c == ' ';
        if (k.c == ' ' && op->c) rt_tok_add(w, out, mark, op->text_bytes, k.begin, k.end);
        else keep(w, out, &k);
    }
    while (op->a && op->c && op->text_bytes && out->n >= op->text_bytes && memcmp(out->s + out->n - op->text_bytes, mark, op->text_bytes) == 0)
        out->n -= op->text_bytes;       /* a mark in the text itself counts as a space here */
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static void run(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out)
{
    switch ((RtTokOpKind)op->kind) {
    case TOK_CLEAN:         clean(w, in, out); break;
    case TOK_CHINESE:       space_chinese(w, in, out); break;
    case TOK_DROP:          drop(w, op, in, out); break;
    case TOK_LOWERCASE:     lowercase(w, in, out); break;
    case TOK_FORM:          rt_tok_form(w, op, in, out); break;
    case TOK_STRIP:         strip(w, op, in, out); break;
    case TOK_REPLACE:       normalise_replace(w, op, in, out); break;
    case TOK_PREPEND:       prepend(w, op, in, out); break;
    case TOK_MAP_GRAPHEMES: rt_tok_map_graphemes(w, in, out); break;
    case TOK_MAP_LONGEST:   rt_tok_map_longest(w, in, out); break;
    case TOK_SPACES:        spaces(w, op, in, out); break;
    default:                break;
    }
}

void rt_tok_normalise(TokWork *w, TokText *x)
{
    const uint32_t *h = w->t->head;
    TokText text[2];
    if (!h[TOK_HEAD_NORMALISERS]) return;
    const size_t cap = x->n * (size_t)h[TOK_HEAD_NORMAL_GROWTH] + h[TOK_HEAD_NORMAL_EXTRA];
    if (!rt_tok_new(w, &text[0], cap)) return;
    if (h[TOK_HEAD_NORMALISERS] > 1 && !rt_tok_new(w, &text[1], cap)) return;
    for (uint32_t i = 0; i < h[TOK_HEAD_NORMALISERS] && w->status == RT_OK; i++) {
        const RtTokOp op = rt_tok_op(w->t, i);
        TokText *out = &text[i & 1];
        out->n = 0;
        run(w, &op, x, out);
        *x = *out;
    }
}
