/* rt_tokenizer_parts.h: declarations that the files of the tokenizer share. */
#ifndef RT_TOKENIZER_PARTS_H
#define RT_TOKENIZER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "rt_tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading a blob: bounds were checked by rt_tokenizer_open ------------------------------------------- */

static inline uint32_t rt_tok_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The n-th u32 of a section. */
static inline uint32_t rt_tok_at(const RtTokenizer *t, RtTokSection section, size_t n) { return rt_tok_u32(t->section[section] + 4 * n); }

static inline double rt_tok_f64(const unsigned char *p)
{
    const uint64_t bits = (uint64_t)rt_tok_u32(p + 4) << 32 | rt_tok_u32(p);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline RtTokOp rt_tok_op(const RtTokenizer *t, uint32_t n)
{
    const unsigned char *p = t->section[TOK_OPS] + (size_t)n * sizeof(RtTokOp);
    const RtTokOp op = { rt_tok_u32(p), rt_tok_u32(p + 4), rt_tok_u32(p + 8), rt_tok_u32(p + 12), rt_tok_u32(p + 16),
                         rt_tok_u32(p + 20), rt_tok_u32(p + 24), rt_tok_u32(p + 28) };
    return op;
}

static inline const unsigned char *rt_tok_text(const RtTokenizer *t, uint32_t at) { return t->section[TOK_TEXT] + at; }

/* A value of a two-stage table; c is a code point. */
static inline uint32_t rt_tok_lookup(const RtTokenizer *t, RtTokSection section, int32_t c, int width)
{
    const unsigned char *p = t->section[section];
    const unsigned char *block = p + 2 * ((uint32_t)c >> 8);
    const size_t i = ((size_t)(block[0] | block[1] << 8) << 8 | ((uint32_t)c & 255)) * (size_t)width;
    const unsigned char *value = p + 2 * RT_TOK_BLOCKS + i;
    return width == 1 ? value[0] : (uint32_t)(value[0] | value[1] << 8);
}

static inline bool rt_tok_flag(const RtTokenizer *t, RtTokFlag flag) { return t->head[TOK_HEAD_FLAGS] & flag; }

/* ---- tries ---------------------------------------------------------------------------------------------- */

/* The state after a byte, or RT_TOK_NONE. */
static inline uint32_t rt_tok_step(const RtTokenizer *t, RtTokSection trie, uint32_t state, unsigned byte)
{
    const uint32_t units = t->bytes[trie] / 8, child = rt_tok_at(t, trie, 2 * (size_t)state) + byte + 1;
    return child < units && rt_tok_at(t, trie, 2 * (size_t)child + 1) == state + 1 ? child : RT_TOK_NONE;
}

/* The value of a state, or RT_TOK_NONE. */
static inline uint32_t rt_tok_value(const RtTokenizer *t, RtTokSection trie, uint32_t state)
{
    const uint32_t units = t->bytes[trie] / 8, leaf = rt_tok_at(t, trie, 2 * (size_t)state);
    return leaf < units && rt_tok_at(t, trie, 2 * (size_t)leaf + 1) == state + 1 ? rt_tok_at(t, trie, 2 * (size_t)leaf) : RT_TOK_NONE;
}

/* The state after n bytes, or RT_TOK_NONE. */
uint32_t rt_tok_walk(const RtTokenizer *t, RtTokSection trie, uint32_t state, const unsigned char *s, size_t n);
/* The value of a text, or RT_TOK_NONE. */
uint32_t rt_tok_find(const RtTokenizer *t, RtTokSection trie, const unsigned char *s, size_t n);

/* ---- characters ------------------------------------------------------------------------------------------ */

/* Read the character at s, where n > 0 bytes may be read. Returns its length; invalid UTF-8 gives
 * U+FFFD of length 1. */
int rt_tok_character(const unsigned char *s, size_t n, int32_t *c);
int rt_tok_put(unsigned char *s, int32_t c);        /* writes up to 4 bytes; returns their number */
/* The length of the invalid sequence at s that becomes one U+FFFD; 0 for a valid character. */
int rt_tok_broken(const unsigned char *s, size_t n);

static inline size_t rt_tok_back(const unsigned char *s, size_t at)
{
    do at--; while (at && (s[at] & 0xC0) == 0x80);
    return at;
}

static inline bool rt_tok_space(int32_t c)
{
    return c < 128 ? c == ' ' || (c >= 9 && c <= 13)
                   : c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
                     c == 0x205F || c == 0x3000;
}

/* ---- text with its origin -------------------------------------------------------------------------------- */

/* Bytes, and the origin of each in the caller's text: begin[i] to end[i], or `offset` + i if these
 * are NULL. */
typedef struct TokText { unsigned char *s; uint32_t *begin, *end; uint32_t offset; size_t n, cap; } TokText;

typedef struct TokWork {
    const RtTokenizer *t;
    const RtTokens *out;
    int n;                          /* ids so far */
    int skip;                       /* how many of the next ids to leave out */
    unsigned type;
    bool origin;                    /* texts carry their origin */
    rt_status status;
    unsigned char *scratch;  size_t used, cap;
} TokWork;

/* Take scratch, aligned to 8; NULL with w->status RT_NO_ROOM. Resetting w->used releases it. */
void *rt_tok_take(TokWork *w, size_t bytes);
bool  rt_tok_new(TokWork *w, TokText *x, size_t cap);               /* an empty text of up to `cap` bytes */
void  rt_tok_add(TokWork *w, TokText *x, const unsigned char *s, size_t n, uint32_t begin, uint32_t end);
void  rt_tok_add_character(TokWork *w, TokText *x, int32_t c, uint32_t begin, uint32_t end);

static inline uint32_t rt_tok_begin(const TokText *x, size_t i) { return x->begin ? x->begin[i] : x->offset + (uint32_t)i; }
static inline uint32_t rt_tok_end(const TokText *x, size_t i) { return x->begin ? x->end[i] : x->offset + (uint32_t)i + 1; }

/* Add an id, for the bytes i .. j of x or, if x is NULL, for no text. */
void rt_tok_push(TokWork *w, uint32_t id, const TokText *x, size_t i, size_t j);

enum { TOK_RUN_EXTRA = 8, TOK_MARK_BYTES = 16 };    /* rt_tok_form takes two marks for each byte */

/* Complete the spans of the ids from `first` on, which belong to this text: trim them, and convert
 * them to characters. */
void rt_tok_settle_spans(TokWork *w, const char *text, size_t bytes, int first);

/* ---- the steps ------------------------------------------------------------------------------------------- */

/* Run the normalisers over x. If there are any, *x becomes another text, in scratch. */
void rt_tok_normalise(TokWork *w, TokText *x);
/* Single normalisers: they read `in` and write `out`, which has enough room. */
void rt_tok_form(TokWork *w, const RtTokOp *op, const TokText *in, TokText *out);
void rt_tok_map_graphemes(TokWork *w, const TokText *in, TokText *out);
void rt_tok_map_longest(TokWork *w, const TokText *in, TokText *out);

/* Matches a pattern in a text s[n], and remembers which nodes have failed where, so that the steps
 * of all matches together are about proportional to the length of the text. */
typedef struct TokMatcher {
    const RtTokenizer *t;
    const unsigned char *s;  size_t n;
    uint32_t first, memos;          /* first node of the pattern; number of its memos */
    unsigned char *failed;          /* a bit for each memo at each position, 0 to n */
} TokMatcher;

static inline size_t rt_tok_matcher_bytes(uint32_t memos, size_t n) { return memos ? ((n + 1) * memos + 7) / 8 : 0; }
/* Takes rt_tok_matcher_bytes of scratch; false: RT_NO_ROOM. */
bool rt_tok_matcher(TokWork *w, TokMatcher *m, uint32_t node, const unsigned char *s, size_t n);
/* The end of the match that begins at `at`; SIZE_MAX if there is none. */
size_t rt_tok_match(const TokMatcher *m, size_t at);
bool rt_tok_in_class(const RtTokenizer *t, uint32_t of_class, int32_t c);

/* Split bytes begin .. end of x into words, with the splits from `step` on, and pass each word to
 * the model. */
void rt_tok_split(TokWork *w, const TokText *x, size_t begin, size_t end, uint32_t step);

/* Turn a word into ids. */
void rt_tok_bpe(TokWork *w, const TokText *x, size_t begin, size_t end);
void rt_tok_unigram(TokWork *w, const TokText *x, size_t begin, size_t end);
void rt_tok_wordpiece(TokWork *w, const TokText *x, size_t begin, size_t end);
void rt_tok_words(TokWork *w, const TokText *x, size_t begin, size_t end);

/* The byte that a character of the byte alphabet stands for, or -1. */
int rt_tok_byte(int32_t c);

#ifdef __cplusplus
}
#endif

#endif
