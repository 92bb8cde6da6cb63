/* rt_generate.c: the loop of rt_generate.h. A greedy answer without rules or a score needs no
 * logits: the next id is the argmax that the model's own `next` finds. */
#include "rt_generate.h"
#include <math.h>
#include <string.h>

/* Feed prompt[begin..n) to slot 0, which holds the ids before `begin`. *last receives the logits
 * after the last id; last is NULL if they are not needed. */
static rt_status feed(const RtDecoder *d, const int *prompt, int begin, int n, const float **last)
{
    enum { MOST = 128 };
    const int most = d->rows_most < MOST ? d->rows_most : MOST;
    rt_token rows[MOST];
    rt_status status = RT_OK;
    /* Rows before this one go to `prefill`: their logits are not needed. */
    const int unasked = !d->prefill ? 0 : last ? n - 1 : n;
    int count = 0;
    for (int from = begin; from < n && status == RT_OK; from += count) {
        const int end = from < unasked ? unasked : n;
        count = end - from < most ? end - from : most;
        for (int i = 0; i < count; i++) rows[i] = (rt_token){ 0, from + i, prompt[from + i] };
        status = (from < unasked ? d->prefill : d->decode)(d->self, rows, count);
    }
    if (last) *last = d->logits(d->self) + (size_t)(count ? count - 1 : 0) * (size_t)d->stride;
    return status;
}

rt_status rt_prefill(const RtDecoder *d, const int *prompt, int n, const float **last)
{
    const rt_status status = d->clear(d->self, 0);
    return status == RT_OK ? feed(d, prompt, 0, n, last) : status;
}

/* ---- what slot 0 holds ---------------------------------------------------------------------------------- */

int rt_prompt_cache_kept(const RtPromptCache *h, const int *prompt, int n)
{
    const int most = h->count < n - 2 ? h->count : n - 2;
    int kept = 0;
    while (kept < most && h->ids[kept] == prompt[kept]) kept++;
    return kept;
}

/* Feed the prompt without its last id, after the ids that rt_prompt_cache_kept counts. RT_ORDER: a
 * ring buffer has lost earlier positions, or nothing is kept, so all ids are fed. */
static rt_status feed_rest(const RtDecoder *d, const RtGenerate *o, const int *prompt, int n)
{
    const int kept = o->prompt_cache ? rt_prompt_cache_kept(o->prompt_cache, prompt, n) : 0;
    if (o->prompt_cache) o->prompt_cache->count = 0;                        /* until the answer succeeds */
    const rt_status status = kept ? feed(d, prompt, kept, n - 1, NULL) : RT_ORDER;
    return status == RT_ORDER ? rt_prefill(d, prompt, n - 1, NULL) : status;
}

/* Set the cache to history[n], the ids that were fed. */
static void hold(RtPromptCache *h, const int *history, int n)
{
    memcpy(h->ids, history, (size_t)n * sizeof *h->ids);
    h->count = n;
}

/* ---- one id --------------------------------------------------------------------------------------------- */

typedef struct Work {
    const RtDecoder *decoder;
    const RtGenerate *options;
    int changed;                    /* rules of rt_logits.h may change scores */
    int *history;                   /* [longest]: the prompt and what follows */
    int prompt, count;              /* ids in the prompt; in the history */
    float *scores;                  /* [vocab], if `changed` */
    RtCandidate *candidates;        /* [vocab], if ids are sampled */
    RtRandom random;
} Work;

/* 1 if the next id is the first maximum, and the logits have no other use. */
static int plain(const RtGenerate *o)
{
    return !o->scored && o->sampling.temperature <= 0 && !rt_logits_change(&o->processors);
}

/* Bytes of the parts, in this order: history, scores, candidates. */
static void measure(const RtGenerate *o, int vocab, size_t bytes[3])
{
    const size_t n = (size_t)vocab;
    bytes[0] = rt_padded((size_t)o->longest * sizeof(int));
    bytes[1] = rt_logits_change(&o->processors) ? rt_padded(n * sizeof(float)) : 0;
    bytes[2] = o->sampling.temperature > 0 ? rt_padded(n * sizeof(RtCandidate)) : 0;
}

size_t rt_generate_scratch_bytes(const RtGenerate *o, int vocab)
{
    size_t bytes[3];
    measure(o, vocab, bytes);
    return bytes[0] + bytes[1] + bytes[2];
}

/* The index of the first maximum, or -1 if no score is above -INFINITY. */
static int first_maximum(const float *scores, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (scores[i] > (best < 0 ? -INFINITY : scores[best])) best = i;
    return best;
}

static double log_probability(const float *x, int n, int id)
{
    const int best = first_maximum(x, n);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp((double)x[i] - (double)x[best]);
    return (double)x[id] - (double)x[best] - log(sum);
}

/* Choose the next id for a row of logits. */
static rt_status choose(Work *w, const float *logits, int *id)
{
    const RtGenerate *o = w->options;
    const int vocab = w->decoder->vocab;
    if (!rt_logits_good(logits, vocab)) return RT_NOT_FINITE;
    const RtHistory h = { w->history, w->count, w->prompt, w->prompt + o->most, o->ends, o->end_count };
    if (w->changed) rt_logits_process(&o->processors, &h, logits, w->scores, vocab);
    const float *scores = w->changed ? w->scores : logits;
    *id = o->sampling.temperature > 0 ? rt_sample(&o->sampling, scores, vocab, w->candidates, &w->random) : first_maximum(scores, vocab);
    return *id < 0 ? RT_NO_TOKEN : RT_OK;
}

/* ---- the loop ------------------------------------------------------------------------------------------- */

/* Feed the last id. *best receives the argmax of the logits; -1 if there is no `next`. */
static rt_status feed_last(const Work *w, int *best)
{
    const RtDecoder *d = w->decoder;
    const rt_token row = { 0, w->count - 1, w->history[w->count - 1] };
    *best = -1;
    return d->next ? d->next(d->self, row.id, best) : d->decode(d->self, &row, 1);
}

static rt_status step(Work *w, int *id, double *sum)
{
    const RtDecoder *d = w->decoder;
    rt_status status = feed_last(w, id);
    if (status != RT_OK || (*id >= 0 && plain(w->options))) return status;
    const float *logits = d->logits(d->self);
    status = choose(w, logits, id);
    if (status != RT_OK) return status;
    if (w->options->scored) *sum += log_probability(logits, d->vocab, *id);
    return RT_OK;
}

rt_status rt_generate(const RtDecoder *d, const RtGenerate *o, const int *prompt, int n, int *ids, void *scratch, size_t bytes,
                      RtGenerated *out)
{
    Work w = { .decoder = d, .options = o, .changed = rt_logits_change(&o->processors), .prompt = n, .count = n,
               .random = rt_random_of(o->seed, o->text) };
    size_t part[3];
    *out = (RtGenerated){ 0 };
    if (n < 1 || o->most < 1) return RT_ORDER;
    if (n > o->longest || o->most > o->longest - n) return RT_TOO_LONG;
    measure(o, d->vocab, part);
    if (part[0] + part[1] + part[2] > bytes) return RT_NO_ROOM;
    unsigned char *at = scratch;
    w.history = (int *)(void *)at;
    w.scores = (float *)(void *)(at + part[0]);
    w.candidates = (RtCandidate *)(void *)(at + part[0] + part[1]);
    memcpy(w.history, prompt, (size_t)n * sizeof *prompt);
    rt_status status = feed_rest(d, o, prompt, n);
    while (status == RT_OK && out->count < o->most && !out->ended && !out->stopped) {
        int id = 0;
        status = step(&w, &id, &out->sum);
        if (status != RT_OK) break;
        ids[out->count++] = w.history[w.count++] = id;
        out->ended = rt_is_end(o->ends, o->end_count, id);
        out->stopped = o->on_id && o->on_id(o->user, id);
    }
    if (o->prompt_cache && status == RT_OK) hold(o->prompt_cache, w.history, w.count - 1);
    return status;
}
