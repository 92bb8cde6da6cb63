/* tokenizer_unicode.c: look up Unicode data, with the differences in tokenizer_eras.def. */
#include "tokenizer_unicode.h"

#include <stddef.h>

#include "rt_tokenizer_format.h"

typedef struct EraRow { TokEra era; int32_t first, last; int value; } EraRow;

static const EraRow rows[] = {
#define ERA(era, first, last, value) { TOK_ERA_##era, first, last, ERA_##era(value) },
#define ERA_MODERN(name) TOK_##name
#define ERA_BERT(name) TOK_##name
#define ERA_MARKS(name) TOK_##name
#define ERA_CLASS(value) value
#define ERA_DECOMPOSE(value) value
#define ERA_LOWER(value) value
#define ERA_ALPHABETIC(value) value
#define ERA_LOWERCASE(value) value
#define ERA_UPPERCASE(value) value
#include "tokenizer_eras.def"
};

/* The row of a code point; NULL if there is none. Rows are sorted by era, then by code point. */
static const EraRow *find(TokEra era, int32_t c)
{
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (rows[middle].era < era || (rows[middle].era == era && rows[middle].last < c)) low = middle + 1;
        else high = middle;
    }
    return low < sizeof rows / sizeof *rows && rows[low].era == era && rows[low].first <= c ? &rows[low] : NULL;
}

static unsigned property(TokEra era, int32_t c)
{
    const EraRow *row = find(era, c);
    const unsigned own = unicode_property(c);
    return row ? (unsigned)row->value | (own & UNICODE_SPACE) : own;
}

/* Negated classes query every code point, so all values are computed once and kept. */
unsigned tok_property_modern(int32_t c)
{
    static unsigned char known[UNICODE_END];
    static bool made;
    for (int32_t i = 0; !made && i < UNICODE_END; i++)
        known[i] = (unsigned char)property(TOK_ERA_MODERN, i);
    made = true;
    return known[c];
}

unsigned tok_property_bert(int32_t c) { return property(TOK_ERA_BERT, c); }
unsigned tok_property_marks(int32_t c) { return property(TOK_ERA_MARKS, c); }

unsigned tok_combining_class(int32_t c)
{
    const EraRow *row = find(TOK_ERA_CLASS, c);
    return row ? (unsigned)row->value : unicode_combining_class(c);
}

int tok_decompose(int32_t c, bool compatible, int32_t out[UNICODE_LONGEST])
{
    return find(TOK_ERA_DECOMPOSE, c) ? 0 : unicode_decompose(c, compatible, out);
}

bool tok_composed_of(int32_t c, int32_t pair[2]) { return !find(TOK_ERA_DECOMPOSE, c) && unicode_composed_of(c, pair); }

int tok_lower(int32_t c, int32_t out[2])
{
    const EraRow *row = find(TOK_ERA_LOWER, c);
    if (!row) return unicode_lower(c, out);
    out[0] = c + row->value;
    return 1;
}

bool tok_era_range(TokEra era, int i, uint32_t *first, uint32_t *last)
{
    const int count = sizeof rows / sizeof *rows;
    int at = 0;
    while (at < count && rows[at].era < era) at++;
    if (i >= count - at || rows[at + i].era != era) return false;
    *first = (uint32_t)rows[at + i].first, *last = (uint32_t)rows[at + i].last;
    return true;
}
