/* selftest.c: compute the expected results of a program's self-test, which are packed with the
 * weights.
 *
 * The generic engine runs the input of rt_packed.h with plain products, so the same weights give
 * the same bytes on every machine. */
#include "selftest.h"

#include <string.h>

#include "engine.h"
#include "rt_packed.h"

static rt_status run_source(Engine *e, const Model *m, int *n)
{
    int ids[RT_SELFTEST_SOURCE];
    *n = rt_selftest_source(ids, (int)m->max_source, (int)m->source_vocab);
    return e->ops->encode(e, 0, ids, *n);
}

/* Run all rows in one call, which reads each weight once. The results equal those of row-by-row
 * calls. */
static rt_status run_target(Engine *e, const Model *m, float *values)
{
    int ids[RT_SELFTEST_ROWS];
    rt_token rows[RT_SELFTEST_ROWS];
    const int longest = (int)m->max_target, vocab = (int)m->target_vocab;
    const int n = rt_selftest_target(ids, longest, vocab, (int)m->start_id);
    for (int i = 0; i < n; i++) rows[i] = (rt_token){ 0, i, ids[i] };
    const rt_status status = e->ops->decode(e, rows, n);
    if (status) return status;
    rt_selftest_keep(values, RT_SELFTEST_VALUES, n, vocab, e->ops->logits(e), 0, n,
                     (int)engine_logits_stride(e));
    return RT_OK;
}

/* Keep the results of an encoder-only model: hidden states or, with a head, hidden states in the
 * first half of `values` and the head's output in the second. */
static void keep_encoder(const Engine *e, const Model *m, int n, float *values)
{
    const int half = RT_SELFTEST_VALUES / 2, rows = model_pools(m) ? 1 : n;
    const bool head = model_has_head(m);
    const Buffer *hidden = plan_hidden(e->plan), *vector = head ? plan_vector(e->plan) : NULL;
    const float *x = (const float *)(const void *)(e->state + plan_address(e->plan, hidden));
    rt_selftest_keep(values, head ? half : RT_SELFTEST_VALUES, n, (int)m->d_model, x, 0, n, (int)hidden->stride);
    if (!head) return;
    const float *y = (const float *)(const void *)(e->state + plan_address(e->plan, vector));
    rt_selftest_keep(values + half, half, rows, (int)model_vector_width(m), y, 0, rows, (int)vector->stride);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A plan of the same model, cut to the length of the input: the weights are the same, but the score
 * buffers are small. */
static const Plan *short_plan(Arena *a, const Plan *p)
{
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .slots = p->options.slots, .max_threads = 1 };
    Model *m = arena_alloc(a, sizeof *m);
    *m = *p->graph->model;
    m->max_source = least(m->max_source, RT_SELFTEST_SOURCE);
    m->max_target = least(m->max_target, RT_SELFTEST_ROWS);
    const Graph *g = graph_build(a, diag_new(a), m, RT_SELFTEST_ROWS);
    if (!g) die("the graph of the self-test cannot be built");
    return plan_make(a, g, options);
}

void engine_selftest(const PackedData *data, char *digits)
{
    const Plan *p = data->plan;
    const Model *m = p->graph->model;
    float values[RT_SELFTEST_VALUES] = { 0 };
    int n = 0;
    Arena *a = arena_new();
    const Plan *brief = short_plan(a, p);
    Engine *e = generic_open_packed(a, brief, data);
    rt_status status = m->has_encoder ? run_source(e, m, &n) : RT_OK;
    if (status == RT_OK && m->has_decoder) status = run_target(e, m, values);
    if (status != RT_OK) die("cannot run the self-test: %s", rt_status_text(status));
    if (!m->has_decoder) keep_encoder(e, m, n, values);
    rt_selftest_write(digits, values);
    engine_close(e);
    arena_free(a);
}
