/* rt_beam.c: beam search; rt_beam.h has the rules. Hypotheses are paths in a tree of nodes, from
 * leaf to root; a slot belongs to one live beam. Nothing is allocated: everything is in the
 * caller's scratch. */
#include "rt_beam.h"
#include <math.h>

/* parent -1: the id follows the prompt. */
typedef struct Node { int parent, id; } Node;
/* node -1: nothing has been generated yet. */
typedef struct Live { int slot, node; double sum; } Live;
/* beam: the index of its parent in `live`. */
typedef struct Candidate { int beam, id, ends; double sum; } Candidate;
/* The id follows the path to node. */
typedef struct Finished { int node, id, length; double sum, score; } Finished;

typedef struct Search {
    const RtDecoder *model;
    const RtBeamOptions *options;
    Live *live, *next;              /* [beams], best first */
    Candidate *candidates;          /* [kept], best first */
    Finished *finished;             /* [beams], best first */
    Node *nodes;                    /* [beams * most] */
    int *ids;                       /* [beams][most] of the results */
    int *taken;                     /* [beams], by slot: 1 if a child has it */
    int live_count, kept, candidate_count, finished_count, node_count;
    int position, length;           /* of the next row; ids of a live beam so far */
    const float *logits;            /* of live[0] */
    int prompt_count;               /* ids of the prompt */
    int changed;                    /* rules may change scores; if not, the rest is unused */
    float *plain, *scores;          /* [vocab] */
    int *history;                   /* [longest]: the prompt, and what follows it in one beam */
} Search;

static size_t most_kept(int beams, int end_count) { return (size_t)(end_count > 0 ? 1 + end_count : 2) * (size_t)beams; }

/* Allocate `bytes` in the scratch; with base NULL they are only counted. */
static void *part(unsigned char *base, size_t *used, size_t bytes)
{
    void *p = base ? base + *used : NULL;
    *used += rt_padded(bytes);
    return p;
}

/* Allocate each array that the options need. Returns the bytes of all. */
static size_t lay_out(Search *s, void *scratch, const RtBeamOptions *o, int vocab)
{
    unsigned char *base = (unsigned char *)scratch;
    const size_t n = (size_t)o->beams, nodes = n * (size_t)o->most;
    size_t used = 0;
    s->live = part(base, &used, n * sizeof *s->live);
    s->next = part(base, &used, n * sizeof *s->next);
    s->candidates = part(base, &used, most_kept(o->beams, o->end_count) * sizeof *s->candidates);
    s->finished = part(base, &used, n * sizeof *s->finished);
    s->nodes = part(base, &used, nodes * sizeof *s->nodes);
    s->ids = part(base, &used, nodes * sizeof *s->ids);
    s->taken = part(base, &used, n * sizeof *s->taken);
    s->changed = rt_logits_change(&o->processors);
    if (!s->changed) return used;
    s->plain = part(base, &used, (size_t)vocab * sizeof *s->plain);
    s->scores = part(base, &used, (size_t)vocab * sizeof *s->scores);
    s->history = part(base, &used, (size_t)o->longest * sizeof *s->history);
    return used;
}

size_t rt_beam_scratch_bytes(const RtBeamOptions *o, int vocab)
{
    Search s;
    return lay_out(&s, NULL, o, vocab);
}

/* ---- a step --------------------------------------------------------------------------------------------- */

/* log(sum of exp(x)); NaN if all x are -INFINITY. */
static double log_sum(const float *x, int n)
{
    float max = -INFINITY;
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > max) max = x[i];
    for (int i = 0; i < n; i++) sum += exp((double)(x[i] - max));
    return (double)max + log(sum);
}

/* Insert a candidate after those that are as good; if the list is full, its last one is dropped. */
static void keep(Search *s, Candidate c)
{
    int i = s->candidate_count < s->kept ? s->candidate_count++ : s->kept - 1;
    for (; i > 0 && c.sum > s->candidates[i - 1].sum; i--) s->candidates[i] = s->candidates[i - 1];
    s->candidates[i] = c;
}

/* Set s->scores to the log-probabilities of a beam's next ids, changed by the rules. */
static void change_scores(Search *s, int beam, const float *x, double log_sum_x)
{
    const RtBeamOptions *o = s->options;
    const int vocab = s->model->vocab, count = s->prompt_count + s->length;
    const RtHistory h = { s->history, count, s->prompt_count, s->prompt_count + o->most, o->ends, o->end_count };
    int at = count;
    for (int node = s->live[beam].node; node >= 0; node = s->nodes[node].parent) s->history[--at] = s->nodes[node].id;
    for (int id = 0; id < vocab; id++) s->plain[id] = (float)((double)x[id] - log_sum_x);
    rt_logits_process(&o->processors, &h, s->plain, s->scores, vocab);
}

/* Find the best continuations of all live beams. RT_NOT_FINITE: a logit is NaN or INFINITY. */
static rt_status find_candidates(Search *s)
{
    const RtDecoder *m = s->model;
    s->candidate_count = 0;
    for (int b = 0; b < s->live_count; b++) {
        const float *x = s->logits + (size_t)b * (size_t)m->stride;
        if (!rt_logits_good(x, m->vocab)) return RT_NOT_FINITE;
        const double log_sum_x = log_sum(x, m->vocab), base = s->live[b].sum - (s->changed ? 0 : log_sum_x);
        if (s->changed) change_scores(s, b, x, log_sum_x), x = s->scores;
        for (int id = 0; id < m->vocab; id++) {
            const double sum = base + (double)x[id];
            const int full = s->candidate_count == s->kept;
            if (sum > (full ? s->candidates[s->kept - 1].sum : -(double)INFINITY))
                keep(s, (Candidate){ b, id, rt_is_end(s->options->ends, s->options->end_count, id), sum });
        }
    }
    return RT_OK;
}

static double score(const Search *s, double sum, int length) { return sum / pow(length, s->options->length_penalty); }

/* Insert a finished sequence among the best, after those that are as good. If there are
 * too many, the worst is dropped. */
static void finish(Search *s, const Candidate *c)
{
    const Finished f = { s->live[c->beam].node, c->id, s->length, c->sum, score(s, c->sum, s->length) };
    int i = s->finished_count;
    if (i < s->options->beams) s->finished_count++;
    else if (!(f.score > s->finished[--i].score)) return;
    for (; i > 0 && f.score > s->finished[i - 1].score; i--) s->finished[i] = s->finished[i - 1];
    s->finished[i] = f;
}

/* Turn candidates into finished sequences and the next beams. These have no slots yet: `slot` is
 * the index of the parent. Returns the number of next beams. */
static int settle(Search *s)
{
    const RtBeamOptions *o = s->options;
    int count = 0;
    s->length++;
    for (int i = 0; i < s->candidate_count; i++) {
        const Candidate *c = &s->candidates[i];
        if (c->ends || s->length == o->most) {
            if (i < o->beams) finish(s, c);
        } else if (count < o->beams) {
            s->nodes[s->node_count] = (Node){ s->live[c->beam].node, c->id };
            s->next[count++] = (Live){ c->beam, s->node_count++, c->sum };
        }
    }
    return count;
}

/* 1 if the search ends: there is no next beam, or enough sequences are finished and, by the rule of
 * early_stopping, the next beams no longer count. */
static int stops(const Search *s, int count)
{
    const RtBeamOptions *o = s->options;
    const int late = o->early_stopping == RT_BEAM_STOP_NEVER && o->length_penalty > 0;
    if (!count) return 1;
    if (s->finished_count < o->beams) return 0;
    if (o->early_stopping == RT_BEAM_STOP_TRUE) return 1;
    return !(score(s, s->next[0].sum, late ? o->most : s->length) > s->finished[o->beams - 1].score);
}

/* The first child of a beam keeps its slot; the others are forked into slots that no child
 * keeps. */
static rt_status give_slots(Search *s, int count)
{
    rt_status status = RT_OK;
    int parents[RT_BEAM_MOST], free_slot = 0;
    for (int i = 0; i < s->options->beams; i++) s->taken[i] = 0;
    for (int i = 0; i < count; i++) {
        const int slot = s->live[s->next[i].slot].slot;
        parents[i] = slot;
        s->next[i].slot = s->taken[slot] ? -1 : slot;
        s->taken[slot] = 1;
    }
    for (int i = 0; i < count && status == RT_OK; i++) {
        if (s->next[i].slot >= 0) continue;
        while (s->taken[free_slot]) free_slot++;
        s->taken[free_slot] = 1;
        s->next[i].slot = free_slot;
        status = s->model->fork(s->model->self, parents[i], free_slot);
    }
    return status;
}

/* Make the next beams the live ones, with one call of `decode` for all. */
static rt_status advance(Search *s, int count)
{
    const RtDecoder *m = s->model;
    rt_token rows[RT_BEAM_MOST];
    rt_status status = give_slots(s, count);
    if (status != RT_OK) return status;
    for (int i = 0; i < count; i++) rows[i] = (rt_token){ s->next[i].slot, s->position, s->nodes[s->next[i].node].id };
    status = m->decode(m->self, rows, count);
    Live *const old = s->live;
    s->live = s->next;
    s->next = old;
    s->live_count = count;
    s->position++;
    s->logits = m->logits(m->self);
    return status;
}

/* ---- the search ----------------------------------------------------------------------------------------- */

/* Feed the prompt to slot 0, which becomes the only beam. */
static rt_status prefill(Search *s, const int *prompt, int n)
{
    const rt_status status = rt_prefill(s->model, prompt, n, &s->logits);
    s->live[0] = (Live){ 0, -1, 0 };
    s->live_count = 1;
    s->position = s->prompt_count = n;
    for (int i = 0; s->changed && i < n; i++) s->history[i] = prompt[i];
    return status;
}

static void write_results(const Search *s, RtBeamResult *results, int *count)
{
    for (int i = 0; i < s->finished_count; i++) {
        const Finished *f = &s->finished[i];
        int *ids = s->ids + (size_t)i * (size_t)s->options->most, at = f->length - 1;
        ids[at] = f->id;
        for (int node = f->node; node >= 0; node = s->nodes[node].parent) ids[--at] = s->nodes[node].id;
        results[i] = (RtBeamResult){ ids, f->length, f->sum, f->score };
    }
    *count = s->finished_count;
}

rt_status rt_beam_search(const RtDecoder *m, const RtBeamOptions *o, const int *prompt, int n, void *scratch, size_t bytes,
                         RtBeamResult *results, int *count)
{
    Search s = { .model = m, .options = o };
    *count = 0;
    if (o->beams < 1 || o->most < 1 || n < 1) return RT_ORDER;
    if (o->beams > RT_BEAM_MOST || o->beams > m->slots || o->beams > m->rows_most) return RT_TOO_LONG;
    if (n > o->longest || o->most > o->longest - n) return RT_TOO_LONG;
    if (lay_out(&s, scratch, o, m->vocab) > bytes) return RT_NO_ROOM;
    s.kept = (int)most_kept(o->beams, o->end_count);
    rt_status status = prefill(&s, prompt, n);
    while (status == RT_OK) {
        status = find_candidates(&s);
        if (status != RT_OK) break;
        const int to_come = settle(&s);
        if (stops(&s, to_come)) break;
        status = advance(&s, to_come);
    }
    if (status == RT_OK) write_results(&s, results, count);
    return status;
}
