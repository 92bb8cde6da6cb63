/* bench_operations.c: time a run operation by operation: the jit calls back after each one. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "jit.h"

enum { RUNS = 9 };

typedef struct Sum { const PlanBlock *block; const PlanOp *op; BenchOperation of; } Sum;
typedef struct Sums { Sum *list; int count; } Sums;

static int operations_of(const Plan *p)
{
    int n = 0;
    for (int i = 0; i < p->block_count; i++) n += p->blocks[i]->op_count;
    return n;
}

static double flops_of(const JitAt *at)
{
    double flops = at->op->flops * at->rows;
    if (kernel_is_attention(at->op->kernel)) flops *= (double)jit_length(at, at->op->node->in[1]->dim[0]);
    return flops;
}

static void count(void *user, Engine *e, const JitAt *at)
{
    Sums *s = user;
    int i = 0;
    (void)e;
    while (i < s->count && (s->list[i].block != at->block || s->list[i].op != at->op)) i++;
    if (i == s->count) s->list[s->count++] = (Sum){ at->block, at->op, { plan_kernel_name(at->op), at->op->result->name, 0, 0, 0, 0 } };
    BenchOperation *o = &s->list[i].of;
    o->ns += at->ns;
    o->calls++;
    o->flops += flops_of(at);
    o->bytes += plan_op_cost(at->op, at->rows, 1, 1).weight_bytes;
}

static int64_t total(const Sums *s)
{
    int64_t ns = 0;
    for (int i = 0; i < s->count; i++) ns += s->list[i].of.ns;
    return ns;
}

static int by_time(const void *a, const void *b)
{
    const int64_t x = ((const BenchOperation *)a)->ns, y = ((const BenchOperation *)b)->ns;
    return (x < y) - (x > y);
}

static int by_total(const void *a, const void *b)
{
    const int64_t x = total(a), y = total(b);
    return (x > y) - (x < y);
}

Engine *bench_open_watched(Bench *b, const CompileOptions *with)
{
    CompileOptions o = *with;
    o.threads = 0;
    o.hooks |= EMIT_WATCHES;
    return session_engine_as(b->session, ENGINE_JIT, false, &o);
}

/* Run the test once to warm up, then RUNS times; *middle receives the run with the median time. */
static rt_status watch_runs(Bench *b, Engine *e, const BenchTest *t, Sums *middle)
{
    Sums runs[RUNS];
    rt_status s = bench_ready(b, e, t);
    if (!s) s = bench_run(b, e, t);
    for (int i = 0; i < RUNS && !s; i++) {
        runs[i] = (Sums){ arena_array(b->arena, (size_t)operations_of(e->plan), sizeof(Sum)), 0 };
        jit_watch(e, (JitWatch){ .call = count, .user = &runs[i] });
        s = bench_run(b, e, t);
        jit_watch(e, (JitWatch){ .call = NULL });
    }
    if (s) return s;
    qsort(runs, RUNS, sizeof *runs, by_total);
    *middle = runs[RUNS / 2];
    return RT_OK;
}

static const BenchTest *short_test(const Bench *b)
{
    for (int i = b->row_count - 1; i >= 0; i--)
        if (b->rows[i].threads == b->threads[0] && bench_figures(b, &b->rows[i]).avg_ns < 5e8) return b->rows[i].test;
    return &b->tests[0];
}

bool bench_operations(Bench *b, BenchOperations *out)
{
    const BenchTest *t = short_test(b);
    Sums s;
    Engine *e = bench_open_watched(b, &b->session->options);
    if (!e) return false;
    const rt_status status = watch_runs(b, e, t, &s);
    engine_close(e);
    if (status) {
        diag_error(b->session->diag, EXIT_OUR_BUG, (Loc){ 0 }, "bench: %s", rt_status_text(status));
        return false;
    }
    *out = (BenchOperations){ t, arena_array(b->arena, (size_t)s.count, sizeof *out->list), s.count, total(&s) };
    for (int i = 0; i < s.count; i++) out->list[i] = s.list[i].of;
    qsort(out->list, (size_t)out->count, sizeof *out->list, by_time);
    return true;
}
