/* support_plain_search.c: see plain_search.h. The terms of a sum are added in the same order as in
 * rt_beam.c, so sums that are equal there are equal here. */
#include "plain_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Plain { PlainLogits *logits; void *self; int vocab; const RtBeamOptions *options; int prompt; } Plain;

static int by_sum(const void *a, const void *b)
{
    const Sequence *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum ? 1 : -1) : x->order - y->order;
}

static int by_score(const void *a, const void *b)
{
    const Sequence *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : x->order - y->order;
}

static double log_sum(const float *x, int n)
{
    float max = -INFINITY;
    double sum = 0;
    for (int i = 0; i < n; i++) max = fmaxf(max, x[i]);
    for (int i = 0; i < n; i++) sum += exp((double)(x[i] - max));
    return (double)max + log(sum);
}

static bool is_end(const RtBeamOptions *o, int id)
{
    bool end = false;
    for (int i = 0; i < o->end_count; i++) end |= o->ends[i] == id;
    return end;
}

/* Set gain[vocab] to what each next id adds to the sum of a sequence after its first n ids, by the
 * rules of rt_logits.h. If no rule changes logits, these are the raw logits, and the caller
 * subtracts their log_sum. */
static void gains(const Plain *p, const Sequence *s, int n, double *gain)
{
    const RtBeamOptions *o = p->options;
    const float *x = p->logits(p->self, s->ids, n);
    const double base = log_sum(x, p->vocab);
    float plain[PLAIN_VOCABULARY], changed[PLAIN_VOCABULARY];
    const RtHistory h = { s->ids, n, p->prompt, p->prompt + o->most, o->ends, o->end_count };
    for (int id = 0; id < p->vocab; id++) plain[id] = (float)((double)x[id] - base);
    rt_logits_process(&o->processors, &h, plain, changed, p->vocab);
    for (int id = 0; id < p->vocab; id++) gain[id] = rt_logits_change(&o->processors) ? (double)changed[id] : (double)x[id];
}

/* Append to the array `to`, which has *count entries, every possible continuation of s by one id.
 * Sums are recomputed from the first id after the prompt. */
static void extend(const Plain *p, const Sequence *s, Sequence *to, int *count)
{
    const bool changed = rt_logits_change(&p->options->processors);
    double sum = 0, gain[PLAIN_VOCABULARY];
    for (int i = p->prompt; i <= s->n; i++) {
        gains(p, s, i, gain);
        if (!changed) sum -= log_sum(p->logits(p->self, s->ids, i), p->vocab);
        if (i < s->n) sum += gain[s->ids[i]];
    }
    for (int id = 0; id < p->vocab; id++) {
        if (!(sum + gain[id] > -(double)INFINITY)) continue;
        Sequence *next = &to[*count];
        *next = *s;
        next->ids[next->n++] = id;
        next->order = (*count)++;
        next->ended = is_end(p->options, id);
        next->sum = sum + gain[id];
        next->score = next->sum / pow(next->n - p->prompt, p->options->length_penalty);
    }
}

/* True if the search ends: the pool is full and, by the rule of early_stopping, closed to live
 * sequences. best: the sum of the first live sequence. */
static bool stops(const RtBeamOptions *o, const Sequence *pool, int count, double best, int step)
{
    const bool late = o->early_stopping == RT_BEAM_STOP_NEVER && o->length_penalty > 0;
    if (count < o->beams) return false;
    return o->early_stopping == RT_BEAM_STOP_TRUE || best / pow(late ? o->most : step, o->length_penalty) <= pool[count - 1].score;
}

int plain_search(PlainLogits *logits, void *self, int vocab, const RtBeamOptions *o, const int *prompt, int n, Sequence *pool, int *count)
{
    static Sequence live[PLAIN_BEAMS], all[PLAIN_BEAMS * PLAIN_VOCABULARY], merged[2 * PLAIN_BEAMS];
    const Plain p = { logits, self, vocab, o, n };
    const int kept = (o->end_count ? 1 + o->end_count : 2) * o->beams;
    int live_count = 1;
    live[0] = (Sequence){ .n = n };
    memcpy(live[0].ids, prompt, (size_t)n * sizeof *prompt);
    *count = 0;
    for (int step = 1;; step++) {
        int found = 0, finished = *count;
        for (int i = 0; i < live_count; i++) extend(&p, &live[i], all, &found);
        qsort(all, (size_t)found, sizeof *all, by_sum);
        memcpy(merged, pool, (size_t)finished * sizeof *pool);
        live_count = 0;
        for (int i = 0; i < found && i < kept; i++) {
            const bool done = all[i].ended || step == o->most;
            if (done && i < o->beams) merged[finished] = all[i], merged[finished++].order = step * 1000 + i;
            else if (!done && live_count < o->beams) live[live_count++] = all[i];
        }
        qsort(merged, (size_t)finished, sizeof *merged, by_score);
        *count = finished < o->beams ? finished : o->beams;
        memcpy(pool, merged, (size_t)*count * sizeof *pool);
        if (!live_count || stops(o, pool, *count, live[0].sum, step)) return step;
    }
}
