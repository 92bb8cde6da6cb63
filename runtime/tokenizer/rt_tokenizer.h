/* rt_tokenizer.h: convert text to ids and back with a tokenizer that the compiler wrote
 * (rt_tokenizer_format.h).
 *
 * A tokenizer is read-only bytes; any number of threads may use it. Nothing is allocated: the
 * caller passes scratch of rt_tokenizer_scratch_bytes, aligned for any type. Once rt_tokenizer_open
 * has accepted a blob, however damaged, no function reads outside it. Time is at most O(n log n) in
 * the length of the text.
 *
 * Text is UTF-8. Invalid UTF-8 first becomes U+FFFD, one per maximal subpart, like Python's
 * errors="replace". */
#ifndef RT_TOKENIZER_H
#define RT_TOKENIZER_H

#include <stdint.h>

#include "rt.h"
#include "rt_tokenizer_format.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RtTokenizer {
    const unsigned char *section[TOK_SECTIONS];
    uint32_t bytes[TOK_SECTIONS];
    uint32_t head[TOK_HEADS];
    uint32_t source, target;        /* ids of languages, RT_TOK_NONE for none: rt_tokenizer_translate */
    const char *prompt;  uint32_t prompt_bytes;     /* before every text, or the first of a pair */
    const uint32_t *literal;  int literal_count;        /* rt_tokenizer_literal */
} RtTokenizer;

/* Check a whole blob, once. RT_BAD_WEIGHTS: not a tokenizer, or damaged. t keeps using the blob. */
rt_status rt_tokenizer_open(RtTokenizer *t, const void *blob, size_t bytes);
/* Open an unchanged blob that rt_tokenizer_open has accepted before, without checking it again. */
rt_status rt_tokenizer_view(RtTokenizer *t, const void *blob, size_t bytes);

static inline int rt_tokenizer_size(const RtTokenizer *t) { return (int)t->head[TOK_HEAD_PIECES]; }

/* Cut texts to `most` ids, including those that the template adds; 0, the default: never. In a pair
 * the longer text is cut first, like Hugging Face's "longest_first"; a plain pair is not cut. */
static inline void rt_tokenizer_cut(RtTokenizer *t, int most) { t->head[TOK_HEAD_MOST_IDS] = (uint32_t)most; }

/* Put this prompt before every text, or the first of a pair, in place of the tokenizer's own. t
 * keeps using these bytes. */
static inline void rt_tokenizer_prompt(RtTokenizer *t, const char *prompt, size_t bytes) { t->prompt = prompt, t->prompt_bytes = (uint32_t)bytes; }
/* Treat special tokens such as </s> as plain text in `count` ranges of each text, from byte
 * ranges[2 * i] to byte ranges[2 * i + 1]. The caller owns ranges. count -1: everywhere; 0, the
 * default: nowhere. */
static inline void rt_tokenizer_literal(RtTokenizer *t, const uint32_t *ranges, int count)
{
    t->literal = ranges;
    t->literal_count = count;
}

/* The bytes begin .. end of a token in its text; 0, 0 for what the template or a prompt adds. */
typedef struct RtTokenSpan { uint32_t begin, end; } RtTokenSpan;

/* text: needs no NUL; other: the second of a pair, or NULL; plain: see rt_tokenizer_encode. */
typedef struct RtTokenText { const char *text; size_t bytes; const char *other; size_t other_bytes; int plain; } RtTokenText;

/* ids[room]; types[room] and spans[room], or NULL. With spans also characters[room], or NULL: the
 * spans in characters, like Hugging Face's offsets; a token with a part of a character's bytes
 * spans the whole character. */
typedef struct RtTokens { int *ids; unsigned char *types; RtTokenSpan *spans; int room; RtTokenSpan *characters; } RtTokens;

/* Bytes of scratch for texts of up to text_bytes (of a pair, the longer). With `spans` more is
 * needed. SIZE_MAX: the text is too long. */
size_t rt_tokenizer_scratch_bytes(const RtTokenizer *t, size_t text_bytes, int spans);

/* Turn a text into ids. *n receives their number. RT_TOO_LONG: there are more than `room`; the
 * first `room` are written. With text->plain the template adds nothing (no <s>, no </s>).
 * RT_NO_ROOM: the scratch is too small. RT_BAD_ID: the vocabulary has no id for a character, and no
 * unknown token. */
rt_status rt_tokenizer_encode(const RtTokenizer *t, const RtTokenText *text, const RtTokens *out, int *n, void *scratch, size_t scratch_bytes);

/* 1 if the ids of a text that was not plain begin with the same token twice: the template adds it,
 * and the text has it too. */
int rt_tokenizer_begins_twice(const RtTokenizer *t, const int *ids, int n);

/* Write the normalised form of a text to out[cap]; *used receives its length. RT_NO_ROOM: out or
 * the scratch is too small. */
rt_status rt_tokenizer_normalise(const RtTokenizer *t, const char *text, size_t bytes, char *out, size_t cap, size_t *used,
                                 void *scratch, size_t scratch_bytes);

/* The text of a piece as in the vocabulary, without a NUL; NULL for an id that has none. */
const char *rt_tokenizer_piece(const RtTokenizer *t, int id, size_t *bytes);
/* 1 if an id is a special token such as <s>. */
int rt_tokenizer_special(const RtTokenizer *t, int id);

/* ---- languages: rt_tokenizer_language.c ------------------------------------------------------------------------ */

/* How a translator uses language tokens. OF_SOURCE: the template names the language of the text,
 * and an answer begins with its own (NLLB, mBART, M2M100). OF_TARGET: a text begins with the
 * language of the answer (Marian). */
typedef enum RtLanguages { RT_LANGUAGES_NONE, RT_LANGUAGES_OF_SOURCE, RT_LANGUAGES_OF_TARGET } RtLanguages;
RtLanguages rt_tokenizer_languages(const RtTokenizer *t);
int rt_tokenizer_is_language(const RtTokenizer *t, int id);
/* The id of a language, or -1. Its code may be spelled as in the vocabulary (deu_Latn, __de__,
 * >>deu<<), without the marks around it (de, deu), or without the part after _ if only one language
 * begins that way (de for de_DE). */
int rt_tokenizer_language(const RtTokenizer *t, const char *code);
/* The first language, from id `from` on, whose first two letters are those of `code`; any language
 * if `code` is NULL. -1: none. */
int rt_tokenizer_language_like(const RtTokenizer *t, const char *code, int from);
/* From now on the template names the language `source` in place of its own, and texts begin with
 * `target`. source -1: the template's own; target -1: none. */
static inline void rt_tokenizer_translate(RtTokenizer *t, int source, int target)
{
    t->source = source < 0 ? RT_TOK_NONE : (uint32_t)source, t->target = target < 0 ? RT_TOK_NONE : (uint32_t)target;
}

/* Append the text of ids[n] to out[*used..cap), NUL-terminated, always valid UTF-8; *used grows.
 * Ids without a piece are left out; with `plain`, so are special tokens. RT_NO_ROOM: out is too
 * small, or a piece too long. */
rt_status rt_tokenizer_decode(const RtTokenizer *t, const int *ids, int n, int plain, char *out, size_t cap, size_t *used);

/* Like rt_tokenizer_decode, for ids that are still being generated. A stream begins as all zeros.
 * Each call gets all ids so far, ids[n], and appends the text that later ids cannot change;
 * rt_tokenizer_stream_end appends the rest. Together they give the text of rt_tokenizer_decode, in
 * the same time. A run of byte pieces is held back until it ends: only then is it known whether it
 * is valid UTF-8. */
typedef struct RtTokenStream {
    uint32_t from, seen, pieces, fused, stripped, held, spaces, apart, outer, said;
    unsigned char hold[16], cleaned[16];        /* cleaned: how many bytes each replacement has matched */
} RtTokenStream;
rt_status rt_tokenizer_stream(const RtTokenizer *t, RtTokenStream *s, const int *ids, int n, int plain, char *out, size_t cap, size_t *used);
rt_status rt_tokenizer_stream_end(const RtTokenizer *t, RtTokenStream *s, const int *ids, int n, int plain, char *out, size_t cap, size_t *used);

/* One of these two, with `plain`, in the form of an RtDetokenize; `from` 0 begins a stream. */
static inline rt_status rt_tokenizer_detokenize(const RtTokenizer *t, RtTokenStream *s, const int *ids,
                                                int from, int n, int last, char *out, size_t cap,
                                                size_t *used)
{
    if (!from) rt_clear(s, sizeof *s);
    return (last ? rt_tokenizer_stream_end : rt_tokenizer_stream)(t, s, ids, n, 1, out, cap, used);
}

#ifdef __cplusplus
}
#endif
#endif
