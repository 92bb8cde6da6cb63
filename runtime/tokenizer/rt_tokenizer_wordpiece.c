/* rt_tokenizer_wordpiece.c: the WordPiece model takes the longest piece that a word begins with,
 * then the longest that continues it, until the word is used up; if none fits, or the word is too
 * long, the whole word is unknown. rt_tok_words is for vocabularies of whole words. */
#include "rt_tokenizer_parts.h"

static void wordpiece_unknown(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    rt_tok_push(w, w->t->head[TOK_HEAD_UNKNOWN], x, begin, end);
}

/* True for a byte inside a character; in byte-level pieces every byte is a character. */
static bool continues(const RtTokenizer *t, unsigned char byte)
{
    return (byte & 0xC0) == 0x80 && !rt_tok_flag(t, TOK_BYTE_LEVEL);
}

static bool too_long(const RtTokenizer *t, const unsigned char *s, size_t n)
{
    size_t characters = 0;
    for (size_t i = 0; i < n; i++) characters += !continues(t, s[i]);
    return characters > t->head[TOK_HEAD_WORD_MOST];
}

/* Find the longest piece from `state` on. Returns its length; 0 if there is none. */
static size_t longest(const RtTokenizer *t, uint32_t state, const unsigned char *s, size_t n, uint32_t *id)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n && state != RT_TOK_NONE; i++) {
        state = rt_tok_step(t, TOK_TRIE, state, s[i]);
        const uint32_t value = state == RT_TOK_NONE ? RT_TOK_NONE : rt_tok_value(t, TOK_TRIE, state);
        if (value == RT_TOK_NONE || (i + 1 < n && continues(t, s[i + 1]))) continue;
        *id = value;
        bytes = i + 1;
    }
    return bytes;
}

void rt_tok_wordpiece(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    const RtTokenizer *t = w->t;
    const uint32_t continued = rt_tok_walk(t, TOK_TRIE, 0, rt_tok_text(t, t->head[TOK_HEAD_PREFIX]), t->head[TOK_HEAD_PREFIX_BYTES]);
    const int first = w->n;
    if (too_long(t, x->s + begin, end - begin)) {
        wordpiece_unknown(w, x, begin, end);
        return;
    }
    for (size_t at = begin, n; at < end; at += n) {
        uint32_t id = 0;
        n = longest(t, at == begin ? 0 : continued, x->s + at, end - at, &id);
        if (!n) {
            w->n = first;
            wordpiece_unknown(w, x, begin, end);
            return;
        }
        rt_tok_push(w, id, x, at, at + n);
    }
}

void rt_tok_words(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    const uint32_t id = rt_tok_find(w->t, TOK_TRIE, x->s + begin, end - begin);
    if (id != RT_TOK_NONE) rt_tok_push(w, id, x, begin, end);
    else wordpiece_unknown(w, x, begin, end);
}
