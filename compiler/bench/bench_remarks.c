/* bench_remarks.c: report which figures are to be read with care: several threads that are slower
 * than one, and limits that were probed while other programs ran. */
#include "ablation.h"

#include "emit_kind.h"

/* Rows with several threads that are slower than with one, and the worst of them. */
typedef struct Slower { int rows, all; double share, many, one; const char *label, *test; } Slower;

/* many, one: tokens per second with several threads and with one. */
static void count_slower(Slower *x, double many, double one, const char *label, const char *test)
{
    const double slower = 0.95;         /* anything closer is noise */
    x->all++;
    if (many >= slower * one) return;
    if (!x->rows || many < x->share * one) x->share = many / one, x->many = many, x->one = one, x->label = label, x->test = test;
    x->rows++;
}

static void remark_on_slower(const Bench *b, const Slower *x, int threads)
{
    if (x->rows)
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: %d threads are slower than 1 here, in %d of %d row%s; "
                    "the worst is %s, %s: %.2f against %.2f %s",
                    threads, x->rows, x->all, x->all == 1 ? "" : "s", x->label, x->test, x->many, x->one,
                    b->session->model->model_kind == KIND_GRAPH ? "runs/s" : "t/s");
}

/* The row of the same engine and test on one thread; NULL if there is none. */
static const BenchRow *on_one_thread(const Bench *b, const BenchRow *r)
{
    for (int i = 0; i < b->row_count; i++)
        if (b->rows[i].threads == 1 && b->rows[i].engine == r->engine && b->rows[i].test == r->test) return &b->rows[i];
    return NULL;
}

static void remark_on_threads(const Bench *b)
{
    for (int k = 0; k < b->thread_count; k++) {
        Slower x = { .rows = 0 };
        for (int i = 0; i < b->row_count; i++) {
            const BenchRow *r = &b->rows[i], *one = r->threads == b->threads[k] && r->threads > 1 ? on_one_thread(b, r) : NULL;
            if (one) count_slower(&x, bench_figures(b, r).median_ts, bench_figures(b, one).median_ts, r->engine->label, r->test->name);
        }
        remark_on_slower(b, &x, b->threads[k]);
    }
}

/* Several threads should compute nearly as many times as fast as one. If they did not while the
 * limits were probed, shares of these limits are too high. */
static void remark_on_probe(const Bench *b)
{
    const double usual = 0.75;
    const int processors = rt_processors();
    int most = 1;
    for (int k = 0; k < b->thread_count; k++)
        if (b->threads[k] > most) most = b->threads[k];
    const double times = b->limits.peak[1] > 0 ? b->limits.peak[most] / b->limits.peak[1] : most;
    if (most > processors)
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: %d threads share %d processor%s", most, processors, processors > 1 ? "s" : "");
    else if (times < usual * most)
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: while the limits were probed, %d threads computed %.2f times as fast as one: "
                    "processors share a core, or other programs ran. The shares of %d threads may be too high", most, times, most);
}

static void remark_on_memory(const Bench *b)
{
    for (int k = 0; k < b->thread_count; k++) {
        const double cache = b->limits.bandwidth[LEVEL_L3][b->threads[k]], memory = b->limits.bandwidth[LEVEL_DRAM][b->threads[k]];
        if (cache <= 0 || cache >= memory) continue;
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: the L3 cache is read at %.1f GB/s by %d thread%s, memory at %.1f: other virtual machines "
                    "or programs may share the cache, or the data of the memory test fitted into it",
                    cache / 1e9, b->threads[k], b->threads[k] > 1 ? "s" : "", memory / 1e9);
        break;
    }
}

static void remark_on_shares(const Bench *b)
{
    const double unlikely = 110;
    for (int i = 0; i < b->row_count; i++) {
        const BenchFigures f = bench_figures(b, &b->rows[i]);
        /* Integer arithmetic has a higher peak. */
        if (f.limit_pct <= unlikely || (f.by_flops && model_rounds_activations(b->session->model))) continue;
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: %s, %d thread%s: faster than the measured limit; another program may have run while the "
                    "limit was measured, or the data was in a faster cache",
                    b->rows[i].test->name, b->rows[i].threads, b->rows[i].threads > 1 ? "s" : "");
        return;
    }
}

void bench_remark(const Bench *b)
{
    remark_on_threads(b);
    remark_on_probe(b);
    remark_on_memory(b);
    remark_on_shares(b);
}

void ablation_remark(const Ablation *a)
{
    const Bench *b = &a->benches[0];
    for (int i = 1; i < a->count; i++) {
        Slower x = { .rows = 0 };
        if (a->steps[i].threads == a->steps[i - 1].threads) continue;
        for (int t = 0; t < b->test_count; t++)
            count_slower(&x, bench_figures(b, ablation_row(a, t, i)).median_ts, bench_figures(b, ablation_row(a, t, i - 1)).median_ts,
                         a->steps[i].name, b->tests[t].name);
        remark_on_slower(b, &x, a->steps[i].threads);
    }
    remark_on_probe(b);
    remark_on_memory(b);
}
