/* rt_sample.c: filter the candidates for the next id, and draw one. */
#include "rt_sample.h"
#include <math.h>
#include <stdlib.h>

static int likelier_first(const void *a, const void *b)
{
    const RtCandidate *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static void swap(RtCandidate *a, RtCandidate *b)
{
    const RtCandidate c = *a;
    *a = *b, *b = c;
}

/* Bring the k largest scores of c[n] to its front, by quickselect. Returns the smallest of them. */
static float kth_largest(RtCandidate *c, int n, int k)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const float pivot = c[low + (high - low) / 2].score;
        int i = low, j = high;
        while (i <= j) {
            while (c[i].score > pivot) i++;
            while (c[j].score < pivot) j--;
            if (i <= j) swap(&c[i++], &c[j--]);
        }
        if (k - 1 <= j) high = j;
        else if (k - 1 >= i) low = i;
        else break;
    }
    return c[k - 1].score;
}

/* Keep candidates whose score is at least the k-th largest. This and the next filters move those
 * they keep to the front, and return their number. */
static int top_k(RtCandidate *c, int n, int k)
{
    if (k < 1 || k >= n) return n;
    const float least = kth_largest(c, n, k);
    int kept = k;
    for (int i = k; i < n; i++)
        if (c[i].score >= least) swap(&c[kept++], &c[i]);
    return kept;
}

/* Set weights relative to the largest score, whose weight is 1. Returns their sum. */
static double weigh(RtCandidate *c, int n)
{
    float max = c[0].score;
    double sum = 0;
    for (int i = 1; i < n; i++)
        if (c[i].score > max) max = c[i].score;
    for (int i = 0; i < n; i++) sum += c[i].weight = exp((double)c[i].score - (double)max);
    return sum;
}

/* Drop the least likely candidates as long as their weights add up to at most 1 - p of all, but
 * keep at least one. Unless no weight is larger, weights of at most 1/n of that are certainly
 * dropped, so a large vocabulary need not be sorted. */
static int top_p(RtCandidate *c, int n, double p)
{
    if (p <= 0 || p >= 1) return n;
    const double all = weigh(c, n), room = (1 - p) * all, share = room / n;
    double gone = 0;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (c[i].weight > share) swap(&c[kept++], &c[i]);
        else gone += c[i].weight;
    }
    if (!kept) kept = n, gone = 0;
    qsort(c, (size_t)kept, sizeof *c, likelier_first);
    while (kept > 1 && (gone += c[kept - 1].weight) <= room) kept--;
    return kept;
}

static int min_p(RtCandidate *c, int n, double p)
{
    int kept = 0;
    if (p <= 0) return n;
    weigh(c, n);
    for (int i = 0; i < n; i++)
        if (c[i].weight >= p) swap(&c[kept++], &c[i]);
    return kept ? kept : n;
}

/* Ascending by |information - entropy|, which is in `weight`. */
static int more_typical_first(const void *a, const void *b)
{
    const RtCandidate *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int typical(RtCandidate *c, int n, double mass)
{
    if (mass <= 0 || mass >= 1) return n;
    const double all = weigh(c, n);
    float max = c[0].score;
    double entropy = 0, sum = 0;
    for (int i = 1; i < n; i++)
        if (c[i].score > max) max = c[i].score;
    const double base = (double)max + log(all);             /* a log-probability is score - base */
    for (int i = 0; i < n; i++) entropy -= c[i].weight / all * ((double)c[i].score - base);
    for (int i = 0; i < n; i++) c[i].weight = fabs(base - (double)c[i].score - entropy);
    qsort(c, (size_t)n, sizeof *c, more_typical_first);
    int kept = 0;
    while (kept < n && sum < mass) sum += exp((double)c[kept++].score - base);
    /* Keep also those that are as typical as the last. */
    while (kept < n && c[kept].weight <= c[kept - 1].weight) kept++;
    return kept;
}

int rt_sample_candidates(const RtSampling *s, const float *scores, int vocab, RtCandidate *c)
{
    const float t = s->temperature > 0 ? s->temperature : 1;
    float most = 0;
    int n = 0;
    /* Dividing by a very small t may overflow, so scores are then taken relative to the largest. */
    if (t < 1e-6f) {
        most = -INFINITY;
        for (int id = 0; id < vocab; id++)
            if (scores[id] > most) most = scores[id];
    }
    for (int id = 0; id < vocab; id++)
        if (scores[id] > -INFINITY) c[n++] = (RtCandidate){ (scores[id] - most) / t, id, 0 };
    if (!n) return 0;
    n = top_k(c, n, s->temperature > 0 ? s->top_k : 1);
    n = top_p(c, n, (double)s->top_p);
    n = min_p(c, n, (double)s->min_p);
    n = typical(c, n, (double)s->typical_p);
    qsort(c, (size_t)n, sizeof *c, likelier_first);
    if (s->temperature <= 0) n = 1;
    weigh(c, n);
    return n;
}

int rt_sample(const RtSampling *s, const float *scores, int vocab, RtCandidate *c, RtRandom *random)
{
    const int n = rt_sample_candidates(s, scores, vocab, c);
    double all = 0;
    for (int i = 0; i < n; i++) all += c[i].weight;
    double at = rt_random(random) * all;
    for (int i = 0; i < n; i++)
        if ((at -= c[i].weight) < 0) return c[i].id;
    return n ? c[n - 1].id : -1;
}
