/* tune_engine.c: open the engines that ways are measured on, compare their results bit for bit, and
 * show progress. */
#include "tune.h"

#include <string.h>

#include "progress.h"

Engine *tune_engine(Tune *t, const Tuning *tuning, const char *isa, LayersForm layers, bool watched)
{
    Session *s = t->bench.session;
    CompileOptions o = s->options;
    o.threads = 0;
    o.form.tuning = tuning;
    if (isa) o.form.isa = isa;
    if (layers) o.form.layers = layers;
    return watched ? bench_open_watched(&t->bench, &o) : session_engine_as(s, ENGINE_JIT, false, &o);
}

static bool same_buffer(Arena *arena, const Buffer *x, const Buffer *y, int64_t rows, Engine *a, Engine *b)
{
    const size_t n = (size_t)(x->heads * rows * x->width);
    float *found = arena_array(arena, n, sizeof *found), *expected = arena_array(arena, n, sizeof *expected);
    engine_read(a, x, 0, rows, x->width, found);
    engine_read(b, y, 0, rows, y->width, expected);
    return memcmp(found, expected, n * sizeof *found) == 0;
}

static bool same_graph(Arena *arena, Engine *a, Engine *b)
{
    bool same = true;
    for (int i = 0; i < a->plan->buffer_count; i++) {
        const Buffer *x = a->plan->buffers[i];
        if (x->tensor->output && x->layout == LAYOUT_ROWS) same &= same_buffer(arena, x, plan_buffer(b->plan, x->name), x->rows, a, b);
    }
    return same;
}

bool tune_same(const Tune *t, const BenchTest *test, Engine *a, Engine *b)
{
    const Bench *bench = &t->bench;
    const Model *m = bench->session->model;
    Engine *const both[] = { a, b };
    for (int i = 0; i < 2; i++) {
        engine_reset(both[i]);          /* a graph's caches grow with each run */
        if (bench_ready(bench, both[i], test) || bench_run(bench, both[i], test)) return false;
    }
    if (m->graph) return same_graph(bench->arena, a, b);
    if (test->work == BENCH_ENCODE || test->work == BENCH_SENTENCES)
        return same_buffer(bench->arena, plan_hidden(a->plan), plan_hidden(b->plan), test->prompt, a, b);
    return memcmp(a->ops->logits(a), b->ops->logits(b), (size_t)m->target_vocab * sizeof(float)) == 0;
}

void tune_progress(const Tune *t, const char *what, int round)
{
    if (what) progress_say("%s, round %d of %d", what, round + 1, t->bench.repetitions);
    else progress_clear();
}
