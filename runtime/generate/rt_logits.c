/* rt_logits.c: the rules of rt_logits.h. */
#include "rt_logits.h"
#include <math.h>

static void forbid(float *scores, int vocab, int id)
{
    if (id >= 0 && id < vocab) scores[id] = -INFINITY;
}

/* An id that was seen twice is penalised once. */
static void repetition(const RtProcessors *p, const RtHistory *h, const float *logits, float *scores, int vocab)
{
    const float penalty = p->repetition_penalty;
    if (penalty == 0 || penalty == 1) return;
    for (int i = 0; i < h->count; i++) {
        const int id = h->ids[i];
        if (id >= 0 && id < vocab) scores[id] = logits[id] < 0 ? logits[id] * penalty : logits[id] / penalty;
    }
}

/* 1 if the last n ids are ids[n]. */
static int ends_with(const RtHistory *h, const int *ids, int n)
{
    for (int i = 0; i < n; i++)
        if (h->ids[h->count - n + i] != ids[i]) return 0;
    return 1;
}

static void ngrams(const RtProcessors *p, const RtHistory *h, float *scores, int vocab)
{
    const int n = p->no_repeat_ngram - 1;
    if (n < 0) return;
    for (int i = 0; i + n < h->count; i++)
        if (ends_with(h, h->ids + i, n)) forbid(scores, vocab, h->ids[i + n]);
}

static void bad_words(const RtProcessors *p, const RtHistory *h, float *scores, int vocab)
{
    for (int i = 0; i < p->bad_words_room;) {
        const int n = p->bad_words[i++];
        if (n < 1 || n > p->bad_words_room - i) return;
        if (n - 1 <= h->count && ends_with(h, p->bad_words + i, n - 1)) forbid(scores, vocab, p->bad_words[i + n - 1]);
        i += n;
    }
}

static void no_end_yet(const RtProcessors *p, const RtHistory *h, float *scores, int vocab)
{
    if (h->count >= p->min_length && h->count - h->prompt >= p->min_new) return;
    for (int i = 0; i < h->end_count; i++) forbid(scores, vocab, h->ends[i]);
}

static void force(float *scores, int vocab, int id)
{
    if (id < 0 || id >= vocab) return;
    for (int i = 0; i < vocab; i++) scores[i] = -INFINITY;
    scores[id] = 0;
}

static void suppress(const int *ids, int n, float *scores, int vocab)
{
    for (int i = 0; i < n; i++) forbid(scores, vocab, ids[i]);
}

int rt_logits_good(const float *x, int n)
{
    int good = 1;
    for (int i = 0; i < n; i++) good &= x[i] < INFINITY;
    return good;
}

int rt_logits_change(const RtProcessors *p)
{
    const int penalty = p->repetition_penalty != 0 && p->repetition_penalty != 1;
    return penalty || p->no_repeat_ngram || p->bad_words_room || p->min_length || p->min_new || p->force_first || p->force_last ||
           p->suppress_count || p->begin_suppress_count;
}

void rt_logits_process(const RtProcessors *p, const RtHistory *h, const float *logits, float *scores, int vocab)
{
    /* A forced first id does not count as the beginning. */
    const int begin = h->prompt > 1 || !p->force_first ? h->prompt : h->prompt + 1;
    for (int i = 0; i < vocab; i++) scores[i] = logits[i];
    repetition(p, h, logits, scores, vocab);
    ngrams(p, h, scores, vocab);
    bad_words(p, h, scores, vocab);
    no_end_yet(p, h, scores, vocab);
    if (p->force_first && h->count == 1) force(scores, vocab, p->first);
    if (p->force_last && h->count == h->most - 1) force(scores, vocab, p->last);
    suppress(p->suppress, p->suppress_count, scores, vocab);
    if (h->count == begin) suppress(p->begin_suppress, p->begin_suppress_count, scores, vocab);
}
