/* rt_tokenizer_unigram.c: split a word into the pieces with the greatest sum of scores (Kudo 2018),
 * using the Viterbi algorithm: every piece that begins at a character offers a path to its end. Of
 * equal sums, the first one found is kept. */
#include "rt_tokenizer_parts.h"

/* The best path that ends at a place; from: RT_TOK_NONE if there is none yet. */
typedef struct Best { double score; uint32_t from, id; } Best;

static void unigram_offer(const RtTokenizer *t, Best *to, double score, uint32_t from, uint32_t id)
{
    if (rt_tok_flag(t, TOK_FLOAT_SCORES)) score = (double)(float)score;
    if (to->from == RT_TOK_NONE || score > to->score) *to = (Best){ score, from, id };
}

static double unknown_score(const RtTokenizer *t)
{
    const uint64_t bits = (uint64_t)t->head[TOK_HEAD_UNKNOWN_SCORE_HIGH] << 32 | t->head[TOK_HEAD_UNKNOWN_SCORE];
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void search(const RtTokenizer *t, const unsigned char *s, size_t n, Best *best)
{
    const double unknown = unknown_score(t);
    const bool bytes = rt_tok_flag(t, TOK_BYTE_LEVEL);
    for (size_t i = 0; i <= n; i++) best[i].from = RT_TOK_NONE;
    best[0] = (Best){ 0, 0, 0 };
    for (size_t at = 0; at < n;) {
        int32_t c;
        const size_t length = bytes ? 1 : (size_t)rt_tok_character(s + at, n - at, &c);
        bool single = false;
        uint32_t state = 0;
        for (size_t i = at; i < n; i++) {
            if ((state = rt_tok_step(t, TOK_TRIE, state, s[i])) == RT_TOK_NONE) break;
            const uint32_t id = rt_tok_value(t, TOK_TRIE, state);
            if (id == RT_TOK_NONE || (t->literal_count && rt_tokenizer_special(t, (int)id))) continue;
            unigram_offer(t, &best[i + 1], best[at].score + rt_tok_f64(t->section[TOK_SCORES] + 8 * (size_t)id), (uint32_t)at, id);
            single = single || i + 1 == at + length;
        }
        if (!single) unigram_offer(t, &best[at + length], best[at].score + unknown, (uint32_t)at, t->head[TOK_HEAD_UNKNOWN]);
        at += length;
    }
}

/* Push text that the search left unknown: as the piece with this text, if there is one, as its
 * bytes, or as one unknown piece. */
static void give_unknown(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    const RtTokenizer *t = w->t;
    const uint32_t id = rt_tok_find(t, TOK_TRIE, x->s + begin, end - begin);
    bool all = id == RT_TOK_NONE && rt_tok_flag(t, TOK_BYTE_FALLBACK);
    for (size_t i = begin; i < end && all; i++) all = rt_tok_at(t, TOK_BYTES, x->s[i]) != RT_TOK_NONE;
    for (size_t i = begin; i < end && all; i++) rt_tok_push(w, rt_tok_at(t, TOK_BYTES, x->s[i]), x, i, i + 1);
    if (!all) rt_tok_push(w, id < t->head[TOK_HEAD_PIECES] ? id : t->head[TOK_HEAD_UNKNOWN], x, begin, end);
}

/* Reverse the best path in place: best[i].from becomes the end of the piece that begins at i. False
 * if there is no path. */
static bool turn(Best *best, size_t n)
{
    size_t end = n, next = n;
    while (end) {
        const Best b = best[end];
        if (b.from >= end) return false;
        best[end].from = (uint32_t)next;        /* the piece from `end` on ends at `next` */
        best[end].score = 0;
        next = end;
        end = b.from;
        best[next].id = b.id;
    }
    best[0].from = (uint32_t)next;
    return true;
}

void rt_tok_unigram(TokWork *w, const TokText *x, size_t begin, size_t end)
{
    const size_t used = w->used, n = end - begin;
    const uint32_t unknown = w->t->head[TOK_HEAD_UNKNOWN];
    const uint32_t pieces = w->t->head[TOK_HEAD_PIECES];
    Best *best = rt_tok_take(w, (n + 1) * sizeof *best);
    if (!best) return;
    search(w->t, x->s + begin, n, best);
    if (!turn(best, n)) {
        w->status = RT_BAD_ID;
        return;
    }
    for (size_t at = 0; at < n;) {
        size_t to = best[at].from;
        if (best[to].id != unknown) rt_tok_push(w, best[to].id < pieces ? best[to].id : unknown, x, begin + at, begin + to);
        else {
            while (rt_tok_flag(w->t, TOK_FUSE_UNKNOWN) && to < n && best[best[to].from].id == unknown) to = best[to].from;
            give_unknown(w, x, begin + at, begin + to);
        }
        at = to;
    }
    w->used = used;
}
