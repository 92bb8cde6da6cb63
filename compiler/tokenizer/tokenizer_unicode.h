/* tokenizer_unicode.h: the Unicode data of Hugging Face's tokenizers, which is that of utf8proc,
 * except where the tokenizers use a different version of Unicode. */
#ifndef TOKENIZER_UNICODE_H
#define TOKENIZER_UNICODE_H

#include "unicode_tables.h"

/* MODERN: for patterns. BERT: for BertNormalizer, BertPreTokenizer and Punctuation. MARKS: for
 * StripAccents. CLASS, DECOMPOSE, LOWER: for normalisers. ALPHABETIC, LOWERCASE, UPPERCASE: for
 * classes such as [[:alpha:]]. */
typedef enum TokEra {
    TOK_ERA_MODERN, TOK_ERA_BERT, TOK_ERA_MARKS, TOK_ERA_CLASS, TOK_ERA_DECOMPOSE, TOK_ERA_LOWER,
    TOK_ERA_ALPHABETIC, TOK_ERA_LOWERCASE, TOK_ERA_UPPERCASE, TOK_ERAS
} TokEra;

/* Like unicode_property and the other functions of unicode_tables.h. */
unsigned tok_property_modern(int32_t c);
unsigned tok_property_bert(int32_t c);
unsigned tok_property_marks(int32_t c);
unsigned tok_combining_class(int32_t c);
int tok_decompose(int32_t c, bool compatible, int32_t out[UNICODE_LONGEST]);
bool tok_composed_of(int32_t c, int32_t pair[2]);
int tok_lower(int32_t c, int32_t out[2]);
/* The code points of row i of an era; false past the last row. */
bool tok_era_range(TokEra era, int i, uint32_t *first, uint32_t *last);

#endif
