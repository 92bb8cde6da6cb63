/* tune_calls.c: measure each linear of a model in place, among all other operations, with every cut
 * that applies to it. */
#include <stdlib.h>
#include <string.h>

#include "jit.h"
#include "progress.h"
#include "tune.h"

enum { MOST_SAMPLES = 4096 };       /* of one function in one round */

/* One function of NAME_kernels.h: the times of its calls in the current round, and the median of
 * every round by cut. */
typedef struct Called {
    const Wrapper *wrapper;
    double *samples;  int count;
    double *ns[CUTS];               /* [rounds] */
    int calls;                      /* in a round of the current test */
    TunedCall best;                 /* from the test with the most calls */
    int best_calls;
} Called;

/* An engine in which every call that `cut` applies to has that cut. of_op[block][operation]: the
 * index of its function in Calls.list, or -1. */
typedef struct Way { LinearCut cut; Engine *engine; int **of_op; } Way;

typedef struct Calls { Tune *tune; const Emit *names; Called *list; int count; Way ways[CUTS]; int way_count; Way *running; } Calls;

static int place_of(const Calls *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->list[i].wrapper->name, name) == 0) return i;
    return -1;
}

static int **functions_of(const Calls *c, const Plan *p)
{
    Arena *a = c->tune->bench.arena;
    Emit *e = emit_named(a, p);
    int **of_op = arena_array(a, (size_t)p->block_count, sizeof *of_op);
    for (int b = 0; b < p->block_count; b++) {
        const PlanBlock *block = p->blocks[b];
        of_op[b] = arena_array(a, (size_t)block->op_count, sizeof **of_op);
        for (int i = 0; i < block->op_count; i++) {
            const PlanOp *op = &block->ops[i];
            of_op[b][i] = kernel_is_linear(op->kernel) ? place_of(c, emit_wrapper(e, op)->name) : -1;
        }
    }
    return of_op;
}

static void find_functions(Calls *c)
{
    Arena *a = c->tune->bench.arena;
    const Emit *e = c->names = emit_named(a, c->tune->bench.plan);
    c->list = arena_array(a, (size_t)e->wrapper_count, sizeof *c->list);
    for (int i = 0; i < e->wrapper_count; i++) {
        if (!kernel_is_linear(e->wrappers[i]->kernel)) continue;
        Called *f = &c->list[c->count++];
        f->wrapper = e->wrappers[i];
        f->samples = arena_array(a, MOST_SAMPLES, sizeof *f->samples);
        for (int k = 0; k < CUTS; k++) f->ns[k] = arena_array(a, (size_t)c->tune->bench.repetitions, sizeof *f->ns[k]);
    }
}

static bool anyone_can(const Calls *c, LinearCut cut)
{
    for (int i = 0; i < c->count; i++)
        if (cut == LINEAR_CUT_USUAL || emit_can_cut(c->names, c->list[i].wrapper, cut)) return true;
    return false;
}

static bool open_ways(Calls *c)
{
    for (int cut = 0; cut < CUTS; cut++) {
        const Tuning all = { .every = (LinearCut)cut };
        if (!anyone_can(c, (LinearCut)cut)) continue;
        progress_say("opening the jit engine, linears: %s", cut_rows[cut].words);
        Engine *e = tune_engine(c->tune, &all, NULL, LAYERS_BY_SPEC, true);
        if (!e) return false;
        c->ways[c->way_count++] = (Way){ (LinearCut)cut, e, functions_of(c, e->plan) };
    }
    return true;
}

/* ---- one round -------------------------------------------------------------------------------------------- */

static void count(void *user, Engine *e, const JitAt *at)
{
    Calls *c = user;
    int block = 0;
    while (e->plan->blocks[block] != at->block) block++;
    const int place = c->running->of_op[block][at->op - at->block->ops];
    Called *f = place < 0 ? NULL : &c->list[place];
    if (!f) return;
    f->calls++;
    if (f->count < MOST_SAMPLES) f->samples[f->count++] = (double)at->ns;
}

/* Run the test once to warm up, then watch runs of it for the way's share of the time. */
static rt_status watch(Calls *c, Way *w, const Bench *b, const BenchTest *t)
{
    const int64_t share = (int64_t)(1e9 * b->seconds / b->repetitions);
    rt_status s = bench_ready(b, w->engine, t);
    if (!s) s = bench_run(b, w->engine, t);
    c->running = w;
    jit_watch(w->engine, (JitWatch){ .call = count, .user = c });
    const int64_t begin = clock_now_ns();
    do {
        if (!s) s = bench_run(b, w->engine, t);
    } while (!s && clock_now_ns() - begin < share);
    jit_watch(w->engine, (JitWatch){ .call = NULL });
    return s;
}

static rt_status one_round(Calls *c, Way *w, const BenchTest *t, int round)
{
    Bench b = c->tune->bench;
    b.arena = arena_new();          /* every run allocates */
    for (int i = 0; i < c->count; i++) c->list[i].count = c->list[i].calls = 0;
    const rt_status s = watch(c, w, &b, t);
    for (int i = 0; i < c->count && !s; i++) {
        Called *f = &c->list[i];
        if (f->count) f->ns[w->cut][round] = bench_median(b.arena, f->samples, f->count);
    }
    arena_free(b.arena);
    return s;
}

/* ---- the verdict ------------------------------------------------------------------------------------------ */

/* Choose the best cut of a function, unless an earlier test called it more often. */
static void judge(const Calls *c, Called *f)
{
    const Bench *b = &c->tune->bench;
    const double *ns[CUTS];
    LinearCut cuts[CUTS];
    int n = 0;
    if (!f->calls || f->calls < f->best_calls) return;
    f->best = (TunedCall){ .name = f->wrapper->name };
    f->best_calls = f->calls;
    for (int i = 0; i < c->way_count; i++) {
        const LinearCut cut = c->ways[i].cut;
        if (cut != LINEAR_CUT_USUAL && !emit_can_cut(c->names, f->wrapper, cut)) continue;
        f->best.us[cut] = bench_median(b->arena, f->ns[cut], b->repetitions) / 1e3;
        cuts[n] = cut;
        ns[n++] = f->ns[cut];
    }
    f->best.take = cuts[tune_choose(b->arena, ns, n, b->repetitions)];
}

static bool same_bits(Calls *c, const BenchTest *t)
{
    for (int i = 1; i < c->way_count; i++)
        if (!tune_same(c->tune, t, c->ways[0].engine, c->ways[i].engine)) {
            diag_error(c->tune->bench.session->diag, EXIT_OUR_BUG, (Loc){ 0 }, "%s: linears computed another way (%s) give different results",
                       t->name, cut_rows[c->ways[i].cut].words);
            return false;
        }
    return true;
}

static bool measure_test(Calls *c, const BenchTest *t)
{
    const Bench *b = &c->tune->bench;
    rt_status s = RT_OK;
    if (!same_bits(c, t)) return false;
    for (int round = 0; round < b->repetitions && !s; round++)
        for (int i = 0; i < c->way_count && !s; i++) {
            tune_progress(c->tune, arena_format(b->arena, "%s, linears: %s", t->name, cut_rows[c->ways[i].cut].words), round);
            s = one_round(c, &c->ways[i], t, round);
        }
    for (int i = 0; i < c->count && !s; i++) judge(c, &c->list[i]);
    if (s) diag_error(b->session->diag, EXIT_OUR_BUG, (Loc){ 0 }, "%s: %s", t->name, rt_status_text(s));
    return !s;
}

/* False for batches and for a test that consists of other tests: they add nothing new. */
static bool is_of_use(const BenchTest *t) { return t->work != BENCH_BOTH && t->batch <= 1; }

static void give(const Calls *c)
{
    Tuning *r = c->tune->result;
    r->calls = arena_array(c->tune->bench.arena, (size_t)c->count, sizeof *r->calls);
    for (int i = 0; i < c->count; i++)
        if (c->list[i].best_calls) r->calls[r->call_count++] = c->list[i].best;
}

bool tune_calls(Tune *t)
{
    Calls c = { .tune = t };
    find_functions(&c);
    bool ok = open_ways(&c);
    for (int i = 0; i < t->bench.test_count && ok; i++)
        if (is_of_use(&t->bench.tests[i])) ok = measure_test(&c, &t->bench.tests[i]);
    for (int i = 0; i < c.way_count; i++) engine_close(c.ways[i].engine);
    if (ok) give(&c);
    return ok;
}
