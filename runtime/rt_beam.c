/* rt_beam.c: beam search; rt_beam.h has the rules. Hypotheses are paths in a tree of nodes, from leaf to root; a slot
 * belongs to one live beam. Nothing is allocated: all lies in the caller's scratch. */
#include "rt_beam.h"
#include <math.h>

typedef struct Node { int parent, id; } Node;               /* parent -1: the id follows the prompt */
typedef struct Live { int slot, node; double sum; } Live;   /* node -1: nothing was generated yet */
typedef struct Candidate { int beam, id, ends; double sum; } Candidate;             /* beam: index of its parent in `live` */
typedef struct Finished { int node, id, length; double sum, score; } Finished;      /* id follows the path to node */

typedef struct Search {
    const RtBeamModel *model;
    const RtBeamOptions *options;
    Live *live, *next;              /* [beams], best first */
    Candidate *candidates;          /* [kept], best first */
    Finished *finished;             /* [beams], best first */
    Node *nodes;                    /* [beams * most] */
    int *ids;                       /* [beams][most] of the results */
    int *taken;                     /* [beams] by slot: whether a child has it */
    int live_count, kept, candidate_count, finished_count, node_count;
    int position, length;           /* of the next row; ids of a live beam so far */
    const float *logits;            /* of live[0] */
} Search;

static size_t most_kept(int beams, int end_count) { return (size_t)(end_count > 0 ? 1 + end_count : 2) * (size_t)beams; }

static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* The next `bytes` of the scratch; with base NULL they are only counted. */
static void *part(unsigned char *base, size_t *used, size_t bytes)
{
    void *p = base ? base + *used : NULL;
    *used += padded(bytes);
    return p;
}

/* Give each array its place. Returns the bytes of all. */
static size_t lay_out(Search *s, void *scratch, int beams, int end_count, int most)
{
    unsigned char *base = (unsigned char *)scratch;
    const size_t n = (size_t)beams, nodes = n * (size_t)most;
    size_t used = 0;
    s->live = part(base, &used, n * sizeof *s->live);
    s->next = part(base, &used, n * sizeof *s->next);
    s->candidates = part(base, &used, most_kept(beams, end_count) * sizeof *s->candidates);
    s->finished = part(base, &used, n * sizeof *s->finished);
    s->nodes = part(base, &used, nodes * sizeof *s->nodes);
    s->ids = part(base, &used, nodes * sizeof *s->ids);
    s->taken = part(base, &used, n * sizeof *s->taken);
    return used;
}

size_t rt_beam_scratch_bytes(int beams, int end_count, int most)
{
    Search s;
    return lay_out(&s, NULL, beams, end_count, most);
}

/* ---- a step --------------------------------------------------------------------------------------------- */

/* log(sum of exp(x)); not a number where x has none above minus infinity. */
static double log_sum(const float *x, int n)
{
    float max = -INFINITY;
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > max) max = x[i];
    for (int i = 0; i < n; i++) sum += exp((double)(x[i] - max));
    return (double)max + log(sum);
}

static int is_end(const RtBeamOptions *o, int id)
{
    for (int i = 0; i < o->end_count; i++)
        if (o->ends[i] == id) return 1;
    return 0;
}

/* Put a candidate behind those that are as good. */
static void keep(Search *s, Candidate c)
{
    int i = s->candidate_count < s->kept ? s->candidate_count++ : s->kept - 1;
    for (; i > 0 && c.sum > s->candidates[i - 1].sum; i--) s->candidates[i] = s->candidates[i - 1];
    s->candidates[i] = c;
}

/* The best continuations of all live beams. */
static void find_candidates(Search *s)
{
    const RtBeamModel *m = s->model;
    s->candidate_count = 0;
    for (int b = 0; b < s->live_count; b++) {
        const float *x = s->logits + (size_t)b * (size_t)m->stride;
        const double base = s->live[b].sum - log_sum(x, m->vocab);
        for (int id = 0; id < m->vocab; id++) {
            const double sum = base + (double)x[id];
            const int full = s->candidate_count == s->kept;
            if (sum > (full ? s->candidates[s->kept - 1].sum : -(double)INFINITY)) keep(s, (Candidate){ b, id, is_end(s->options, id), sum });
        }
    }
}

static double score(const Search *s, double sum, int length) { return sum / pow(length, s->options->length_penalty); }

/* Take a finished sequence among the best, behind those that are as good. */
static void finish(Search *s, const Candidate *c)
{
    const Finished f = { s->live[c->beam].node, c->id, s->length, c->sum, score(s, c->sum, s->length) };
    int i = s->finished_count;
    if (i < s->options->beams) s->finished_count++;
    else if (!(f.score > s->finished[--i].score)) return;
    for (; i > 0 && f.score > s->finished[i - 1].score; i--) s->finished[i] = s->finished[i - 1];
    s->finished[i] = f;
}

/* Candidates become finished sequences and the beams to come, which have no slots yet: slot holds the parent's index.
 * Returns the number of these. */
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

/* Whether no beam to come can change the answer any more. */
static int stops(const Search *s, int count)
{
    const RtBeamOptions *o = s->options;
    const int late = o->early_stopping == RT_BEAM_STOP_NEVER && o->length_penalty > 0;
    if (!count) return 1;
    if (s->finished_count < o->beams) return 0;
    if (o->early_stopping == RT_BEAM_STOP_TRUE) return 1;
    return !(score(s, s->next[0].sum, late ? o->most : s->length) > s->finished[o->beams - 1].score);
}

/* The first child of a beam keeps its slot; the others are forked into slots that no child keeps. */
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

/* The beams to come become the live ones, all in one call of `rows`. */
static rt_status advance(Search *s, int count)
{
    const RtBeamModel *m = s->model;
    rt_row rows[RT_BEAM_MOST];
    rt_status status = give_slots(s, count);
    if (status != RT_OK) return status;
    for (int i = 0; i < count; i++) rows[i] = (rt_row){ s->next[i].slot, s->position, s->nodes[s->next[i].node].id };
    status = m->rows(m->self, rows, count);
    Live *const old = s->live;
    s->live = s->next;
    s->next = old;
    s->live_count = count;
    s->position++;
    s->logits = m->logits(m->self);
    return status;
}

/* ---- the search ----------------------------------------------------------------------------------------- */

/* The prompt into slot 0, which becomes the only beam. */
static rt_status prefill(Search *s, const int *prompt, int n)
{
    const RtBeamModel *m = s->model;
    const int most = m->rows_most < RT_BEAM_MOST ? m->rows_most : RT_BEAM_MOST;
    rt_row rows[RT_BEAM_MOST];
    rt_status status = m->clear(m->self, 0);
    int count = 0;
    for (int from = 0; from < n && status == RT_OK; from += count) {
        count = n - from < most ? n - from : most;
        for (int i = 0; i < count; i++) rows[i] = (rt_row){ 0, from + i, prompt[from + i] };
        status = m->rows(m->self, rows, count);
    }
    if (status != RT_OK) return status;
    s->live[0] = (Live){ 0, -1, 0 };
    s->live_count = 1;
    s->position = n;
    s->logits = m->logits(m->self) + (size_t)(count - 1) * (size_t)m->stride;
    return RT_OK;
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

rt_status rt_beam_search(const RtBeamModel *m, const RtBeamOptions *o, const int *prompt, int n, void *scratch, size_t bytes,
                         RtBeamResult *results, int *count)
{
    Search s = { .model = m, .options = o };
    *count = 0;
    if (o->beams < 1 || o->most < 1 || n < 1) return RT_ORDER;
    if (o->beams > RT_BEAM_MOST || o->beams > m->slots || o->beams > m->rows_most) return RT_TOO_LONG;
    if (lay_out(&s, scratch, o->beams, o->end_count, o->most) > bytes) return RT_NO_ROOM;
    s.kept = (int)most_kept(o->beams, o->end_count);
    rt_status status = prefill(&s, prompt, n);
    while (status == RT_OK) {
        find_candidates(&s);
        const int to_come = settle(&s);
        if (stops(&s, to_come)) break;
        status = advance(&s, to_come);
    }
    if (status == RT_OK) write_results(&s, results, count);
    return status;
}
