/* rt_tokenizer_spans.c: complete the spans of tokens: trim white space at their ends, if the
 * tokenizer does so, and convert them to characters. */
#include "rt_tokenizer_parts.h"

/* ---- white space ---------------------------------------------------------------------------------------------- */

/* The length of the character at s. *blank: it is white space, or stands for a space in the byte
 * alphabet. */
static size_t take_blank(const unsigned char *s, size_t n, bool *blank)
{
    int32_t c;
    const size_t length = (size_t)rt_tok_character(s, n, &c);
    *blank = rt_tok_space(c) || c == 0x120;
    return length;
}

/* Count the characters of white space at both ends of a piece. */
static void count_blanks(const unsigned char *s, size_t n, size_t *leading, size_t *trailing)
{
    bool blank, all = true;
    *leading = *trailing = 0;
    for (size_t at = 0; at < n;) {
        at += take_blank(s + at, n - at, &blank);
        all = all && blank;
        *leading += all;
        *trailing = blank ? *trailing + 1 : 0;
    }
}

static size_t character_at(const char *text, size_t bytes, size_t at)
{
    const unsigned char *s = (const unsigned char *)text + at;
    int32_t c;
    const int broken = rt_tok_broken(s, bytes - at);
    return broken ? (size_t)broken : (size_t)rt_tok_character(s, bytes - at, &c);
}

static void trim(const TokWork *w, const char *text, size_t bytes, int i, bool is_first)
{
    RtTokenSpan *span = &w->out->spans[i];
    size_t n, leading, trailing;
    const char *piece = rt_tokenizer_piece(w->t, w->out->ids[i], &n);
    if (!piece) return;
    count_blanks((const unsigned char *)piece, n, &leading, &trailing);
    if ((is_first || !span->begin) && rt_tok_flag(w->t, TOK_TRIM_KEEPS_FIRST)) leading = 0;
    for (; leading && span->begin < span->end; leading--) span->begin += (uint32_t)character_at(text, bytes, span->begin);
    if (span->begin > span->end) span->begin = span->end;
    for (; trailing && span->end > span->begin; trailing--) span->end = (uint32_t)rt_tok_back((const unsigned char *)text, span->end);
    if (span->end < span->begin) span->end = span->begin;
}

/* ---- characters ------------------------------------------------------------------------------------------------ */

enum { STRIDE = 64 };

/* at: the first character that begins in a stride of the text or after it; before: how many
 * characters come before that. */
typedef struct SpanMark { uint32_t at, before; } SpanMark;

static void set_marks(SpanMark *marks, const char *text, size_t bytes)
{
    uint32_t characters = 0;
    size_t at = 0;
    for (size_t k = 0; k <= bytes / STRIDE; k++) {
        for (; at < k * STRIDE && at < bytes; characters++) at += character_at(text, bytes, at);
        marks[k] = (SpanMark){ (uint32_t)at, characters };
    }
}

/* How many characters begin before a place. */
static uint32_t begun(const SpanMark *marks, const char *text, size_t bytes, uint32_t place)
{
    const SpanMark *mark = &marks[place / STRIDE];
    uint32_t n = mark->before;
    for (size_t at = mark->at; at < place && at < bytes; n++) at += character_at(text, bytes, at);
    return n;
}

void rt_tok_settle_spans(TokWork *w, const char *text, size_t bytes, int first)
{
    const RtTokens *out = w->out;
    const int last = w->n < out->room ? w->n : out->room;
    const size_t used = w->used;
    for (int i = first; i < last && rt_tok_flag(w->t, TOK_TRIM_SPANS); i++) trim(w, text, bytes, i, i == first);
    SpanMark *marks = out->characters && first < last ? rt_tok_take(w, (bytes / STRIDE + 1) * sizeof *marks) : NULL;
    if (!marks) return;
    set_marks(marks, text, bytes);
    for (int i = first; i < last; i++) {
        const RtTokenSpan x = out->spans[i];
        const uint32_t begin = begun(marks, text, bytes, x.begin + (x.begin < bytes)) - (x.begin < bytes), end = begun(marks, text, bytes, x.end);
        out->characters[i] = (RtTokenSpan){ begin, end > begin ? end : begin };
    }
    w->used = used;
}
