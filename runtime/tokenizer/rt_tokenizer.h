/* rt_tokenizer.h: text to ids and back by a tokenizer that the compiler wrote (rt_tokenizer_format.h).
 *
 * A tokenizer is read-only bytes; any number of threads may use it. Nothing is allocated: the caller gives scratch of the
 * size that rt_tokenizer_scratch_bytes says, aligned for any type. No blob, however damaged, makes it read outside once
 * rt_tokenizer_open has taken it. Time is n log n in the length of the text at most.
 *
 * Text is UTF-8. Bytes that are none become U+FFFD before anything else, one for each longest beginning of a character,
 * as Python's errors="replace" has it. */
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
    const char *prompt;  uint32_t prompt_bytes;     /* before every text, of a pair the first */
    const uint32_t *literal;  int literal_count;        /* rt_tokenizer_literal */
} RtTokenizer;

/* Check the whole blob, once; RT_BAD_WEIGHTS for what is none, or damaged. The blob must stay. */
rt_status rt_tokenizer_open(RtTokenizer *t, const void *blob, size_t bytes);
/* The same of a blob that rt_tokenizer_open has taken before and that did not change: its sections alone, in no time. */
rt_status rt_tokenizer_view(RtTokenizer *t, const void *blob, size_t bytes);

static inline int rt_tokenizer_size(const RtTokenizer *t) { return (int)t->head[TOK_HEAD_PIECES]; }

/* Let texts be cut to so many ids, those that the template adds among them; 0: never, as before any
 * call. Of a pair the longer is cut first, as Hugging Face's "longest_first" does. */
static inline void rt_tokenizer_cut(RtTokenizer *t, int most) { t->head[TOK_HEAD_MOST_IDS] = (uint32_t)most; }

/* Let this stand before every text, of a pair the first, in the place of what the tokenizer has. It must stay. */
static inline void rt_tokenizer_prompt(RtTokenizer *t, const char *prompt, size_t bytes) { t->prompt = prompt, t->prompt_bytes = (uint32_t)bytes; }
/* Where the text of a special token, such as </s>, is text: from byte ranges[2 * i] to byte ranges[2 * i + 1] of texts, in order; they
 * stay the caller's. count -1: in all texts, a pair's second too; 0: nowhere, as at first. */
static inline void rt_tokenizer_literal(RtTokenizer *t, const uint32_t *ranges, int count)
{
    t->literal = ranges;
    t->literal_count = count;
}

/* Where a token stands in its text: bytes from `begin` up to `end`; 0, 0 for what the template adds. */
typedef struct RtTokenSpan { uint32_t begin, end; } RtTokenSpan;

/* text: its bytes need no NUL; other: the second of a pair, or NULL. */
typedef struct RtTokenText { const char *text; size_t bytes; const char *other; size_t other_bytes; int plain; } RtTokenText;

/* ids [room]; types and spans [room] or NULL; with spans also characters [room] or NULL: the same in characters, as Hugging Face's
 * offsets; of a token that holds a part of a character's bytes the whole character. */
typedef struct RtTokens { int *ids; unsigned char *types; RtTokenSpan *spans; int room; RtTokenSpan *characters; } RtTokens;

/* Scratch for texts of up to so many bytes (of a pair, the longer). With `spans` more is needed. SIZE_MAX: too long. */
size_t rt_tokenizer_scratch_bytes(const RtTokenizer *t, size_t text_bytes, int spans);

/* Turn a text into ids. *n receives their number, also where it is more than `room`: then RT_TOO_LONG, and the first `room`
 * are written. With text->plain nothing is added (no <s>, no </s>). RT_NO_ROOM: the scratch is too small. RT_BAD_ID: a
 * character that the vocabulary has no id for, and no unknown one. */
rt_status rt_tokenizer_encode(const RtTokenizer *t, const RtTokenText *text, const RtTokens *out, int *n, void *scratch, size_t scratch_bytes);

/* Whether the ids of a text that was not plain begin with the first token twice: the template put it there, and the text has it too. */
int rt_tokenizer_begins_twice(const RtTokenizer *t, const int *ids, int n);

/* The normalised form of a text into out[cap]; *used receives its bytes. RT_NO_ROOM. */
rt_status rt_tokenizer_normalise(const RtTokenizer *t, const char *text, size_t bytes, char *out, size_t cap, size_t *used,
                                 void *scratch, size_t scratch_bytes);

/* The text of one piece as in its vocabulary; NULL for an id that has none. No NUL behind it. */
const char *rt_tokenizer_piece(const RtTokenizer *t, int id, size_t *bytes);
/* Whether an id is a special token such as <s>. */
int rt_tokenizer_special(const RtTokenizer *t, int id);

/* ---- languages: rt_tokenizer_language.c ------------------------------------------------------------------------ */

/* How a translator's vocabulary has languages. OF_SOURCE: its template names the language of the text, and an answer begins with
 * its own (NLLB, mBART, M2M100). OF_TARGET: a text begins with the language of the answer (Marian). */
typedef enum RtLanguages { RT_LANGUAGES_NONE, RT_LANGUAGES_OF_SOURCE, RT_LANGUAGES_OF_TARGET } RtLanguages;
RtLanguages rt_tokenizer_languages(const RtTokenizer *t);
int rt_tokenizer_is_language(const RtTokenizer *t, int id);
/* The id of a language: as the vocabulary spells it (deu_Latn, __de__, >>deu<<), without marks around it (de, deu), or without what
 * stands behind _ where only one language begins so (de for de_DE). -1: there is none. */
int rt_tokenizer_language(const RtTokenizer *t, const char *code);
/* The first language from id `from` on whose first two letters are those of `code`, or any where that is NULL; -1: none. */
int rt_tokenizer_language_like(const RtTokenizer *t, const char *code, int from);
/* From now on the template names the language `source` in the place of its own, and texts begin with `target`; -1: neither. */
static inline void rt_tokenizer_translate(RtTokenizer *t, int source, int target)
{
    t->source = source < 0 ? RT_TOK_NONE : (uint32_t)source, t->target = target < 0 ? RT_TOK_NONE : (uint32_t)target;
}

/* Turn ids into text: out[*used..cap], NUL-terminated, always valid UTF-8. Ids without a piece are left out, with `plain`
 * special ones too. RT_NO_ROOM. *used grows. */
rt_status rt_tokenizer_decode(const RtTokenizer *t, const int *ids, int n, int plain, char *out, size_t cap, size_t *used);

/* The same while ids are still coming, for an answer that is shown while it grows: a stream begins as all zeros; each call has all
 * ids so far, ids[n], and appends what can be said for certain, and rt_tokenizer_stream_end the rest. The whole is what
 * rt_tokenizer_decode gives, in as much time. Byte pieces in a row wait for their end: only then it is known whether they are UTF-8. */
typedef struct RtTokenStream {
    uint32_t from, seen, pieces, fused, stripped, held, spaces, apart, outer, said;
    unsigned char hold[16], cleaned[16];        /* cleaned: of each replacement, the bytes that may begin it */
} RtTokenStream;
rt_status rt_tokenizer_stream(const RtTokenizer *t, RtTokenStream *s, const int *ids, int n, int plain, char *out, size_t cap, size_t *used);
rt_status rt_tokenizer_stream_end(const RtTokenizer *t, RtTokenStream *s, const int *ids, int n, int plain, char *out, size_t cap, size_t *used);

/* Both of these as one call, an RtDetokenize: from 0 begins a stream. */
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
