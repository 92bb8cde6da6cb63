/* bench_figures.c: compute speeds, their spread and their share of the limit from times. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

/* The standard deviation of a sample (divisor n - 1); 0 if n is 1. */
static double deviation_of(const double *x, int n)
{
    const double mean = mean_of(x, n);
    double squares = 0;
    for (int i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(squares / (n - 1)) : 0;
}

double bench_quantile(double *x, int n, double share)
{
    const double at = share * (n - 1);
    const int low = (int)at, high = low + 1 < n ? low + 1 : low;
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[low] + (at - low) * (x[high] - x[low]);
}

double bench_median(Arena *a, const double *x, int n)
{
    double *sorted = arena_array(a, (size_t)n, sizeof *sorted);
    memcpy(sorted, x, (size_t)n * sizeof *x);
    return bench_quantile(sorted, n, 0.5);
}

bool bench_by_sentences(const Bench *b) { return b->session->model->model_kind == KIND_ENCODER; }

/* The tokens of one run; 1 for an xf.graph. */
static double tokens_of(const BenchTest *t)
{
    const int n = t->work == BENCH_DECODE ? t->generated : t->batch * (t->prompt + t->generated);
    return n > 0 ? n : 1;
}

static void percentiles(Arena *a, const BenchRow *r, BenchFigures *f)
{
    double *runs = arena_array(a, (size_t)r->runs, sizeof *runs);
    memcpy(runs, r->runs_ns, (size_t)r->runs * sizeof *runs);
    f->p50_ns = bench_quantile(runs, r->runs, 0.5);
    f->p90_ns = bench_quantile(runs, r->runs, 0.9);
    f->p99_ns = bench_quantile(runs, r->runs, 0.99);
}

bool bench_by_native(const Bench *b)
{
    bool native = false;
    for (int i = 0; i < b->engine_count; i++) native |= strcmp(b->engines[i].label, "native") == 0;
    return native && b->engine_count > 1;
}

/* The median, over the repetitions, of the ratio of speeds. The engines' repetitions are adjacent
 * in time, so anything that slows the machine for a while slows both. */
static double by_native(const Bench *b, const BenchRow *r)
{
    const BenchRow *native = NULL;
    double *ratios = arena_array(b->arena, (size_t)r->samples, sizeof *ratios);
    for (int i = 0; i < b->row_count; i++)
        if (b->rows[i].test == r->test && b->rows[i].threads == r->threads && strcmp(b->rows[i].engine->label, "native") == 0)
            native = &b->rows[i];
    if (!native || native->samples != r->samples) return NAN;
    for (int i = 0; i < r->samples; i++) ratios[i] = native->samples_ns[i] / r->samples_ns[i];
    return bench_median(b->arena, ratios, r->samples);
}

BenchFigures bench_figures(const Bench *b, const BenchRow *r)
{
    const BenchTest *t = r->test;
    const int n = r->samples;
    BenchFigures f = { .avg_ns = mean_of(r->samples_ns, n), .stddev_ns = deviation_of(r->samples_ns, n) };
    f.samples_ts = arena_array(b->arena, (size_t)n, sizeof *f.samples_ts);
    for (int i = 0; i < n; i++) f.samples_ts[i] = 1e9 * tokens_of(t) / r->samples_ns[i];
    f.avg_ts = mean_of(f.samples_ts, n);
    f.stddev_ts = deviation_of(f.samples_ts, n);
    f.median_ts = bench_median(b->arena, f.samples_ts, n);
    f.median_sentences = f.median_ts / tokens_of(t) * t->batch;
    f.stddev_sentences = f.stddev_ts / tokens_of(t) * t->batch;
    f.by_native = by_native(b, r);
    percentiles(b->arena, r, &f);

    const double seconds = tokens_of(t) / f.median_ts;
    f.gflops = t->flops / seconds / 1e9;
    f.gbps = t->bytes / seconds / 1e9;
    f.level = limits_level(&b->limits, t->held, r->threads);
    f.limit_pct = 100 * limits_seconds(&b->limits, t->flops, t->bytes, f.level, r->threads) / seconds;
    f.by_flops = t->flops / b->limits.peak[r->threads] >= t->bytes / b->limits.bandwidth[f.level][r->threads];
    return f;
}
