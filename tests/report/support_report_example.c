/* support_report_example.c: benches with made-up numbers, for which no engine ran. */
#include "report_example.h"

#include <stdlib.h>

static const int threads[] = { 1, 2 };
static const CompileOptions options[2][2] = {
    { { .spec = "specs/dates.lua" }, { .spec = "specs/dates.lua", .dtype = "int8" } },
    { { .spec = "specs/encoder.lua" }, { .spec = "specs/encoder.lua", .dtype = "int8" } },
};

/* The levels are almost equally fast: their slopes nearly coincide. */
static void set_limits(Limits *l)
{
    *l = (Limits){ .isa = "avx512", .bytes = { [LEVEL_L2] = 1 << 20, [LEVEL_L3] = 32 << 20 } };
    for (int n = 1; n <= 2; n++) {
        l->peak[n] = 264e9 * n;
        l->bandwidth[LEVEL_L2][n] = 181e9 * n;
        l->bandwidth[LEVEL_L3][n] = 175e9 * n;
        l->bandwidth[LEVEL_DRAM][n] = 168e9 * n;
    }
}

/* Tests whose points and names are close together. */
static void set_tests(Bench *b, bool sentences)
{
    static const BenchTest of_texts[] = {
        { "enc", BENCH_ENCODE, 80, 0, 1, 1, 2.2e7, 6e5, 6e5 },
        { "dec", BENCH_DECODE, 80, 11, 1, 1, 2e6, 4e6, 5e5 },
        { "e2e", BENCH_BOTH, 80, 11, 1, 1, 2.4e7, 4.6e6, 1e6 },
    };
    static const BenchTest of_sentences[] = {
        { "b1x16", BENCH_SENTENCES, 16, 0, 1, 1, 2e8, 1.2e7, 1.2e7 },
        { "b8x16", BENCH_SENTENCES, 16, 0, 8, 8, 1.6e9, 1.3e7, 1.2e7 },
        { "b32x16", BENCH_SENTENCES, 16, 0, 32, 8, 6.4e9, 5.2e7, 1.2e7 },
        { "b1x128", BENCH_SENTENCES, 128, 0, 1, 1, 1.6e9, 1.3e7, 1.2e7 },
        { "b8x128", BENCH_SENTENCES, 128, 0, 8, 1, 1.3e10, 1.05e8, 1.2e7 },
        { "b32x128", BENCH_SENTENCES, 128, 0, 32, 1, 5.2e10, 4.2e8, 1.2e7 },
    };
    const BenchTest *from = sentences ? of_sentences : of_texts;
    b->test_count = sentences ? 6 : 3;
    b->tests = arena_array(b->arena, (size_t)b->test_count, sizeof *b->tests);
    for (int i = 0; i < b->test_count; i++) b->tests[i] = from[i];
}

/* Three repetitions at about `share` of the limit. */
static void set_times(Bench *b, BenchRow *r, double share)
{
    const LimitLevel level = limits_level(&b->limits, r->test->held, r->threads);
    const double least = 1e9 * limits_seconds(&b->limits, r->test->flops, r->test->bytes, level,
                                              r->threads);
    r->samples = r->runs = r->room = 3;
    r->samples_ns = arena_array(b->arena, 3, sizeof *r->samples_ns);
    for (int i = 0; i < 3; i++) r->samples_ns[i] = least / share * (1 + 0.05 * (i - 1));
    r->runs_ns = r->samples_ns;
}

/* narrow: int8 weights, faster than the peak of f32. */
static void set_rows(Bench *b, bool narrow)
{
    static const double f32[] = { 0.006, 0.49, 0.64, 0.23 }, int8[] = { 1.29 };
    static const BenchEngine engines[] = {
        { .label = "generic", .compiler = "gcc <13>", .cflags = "" },
        { .label = "jit", .compiler = "libtcc", .cflags = "" },
        { .label = "native", .compiler = "cc \"&\"",
          .cflags = "-O3 -march=native -ffp-contract=off -std=c11" },
        { .label = "native unrolled", .compiler = "cc", .cflags = "-O3" },
    };
    b->engine_count = narrow ? 1 : 4;
    b->engines = arena_array(b->arena, 4, sizeof *b->engines);
    for (int i = 0; i < b->engine_count; i++) b->engines[i] = engines[narrow ? 2 : i];
    b->rows = arena_array(b->arena, (size_t)(b->test_count * 2 * b->engine_count), sizeof *b->rows);
    for (int t = 0; t < b->test_count; t++)
        for (int n = 0; n < 2; n++)
            for (int i = 0; i < b->engine_count; i++) {
                BenchRow *r = &b->rows[b->row_count++];
                *r = (BenchRow){ .engine = &b->engines[i], .test = &b->tests[t],
                                 .threads = threads[n] };
                set_times(b, r, (narrow ? int8 : f32)[i] * (n ? 0.9 : 1));
            }
}

static Bench *open_bench(const CompileOptions *c, bool narrow)
{
    Session *s = session_new(c);
    if (!session_read(s)) abort();
    Bench *b = arena_alloc(s->arena, sizeof *b);
    *b = (Bench){ .session = s, .arena = s->arena, .threads = threads, .thread_count = 2,
                  .repetitions = 3 };
    b->plan = session_plan(s, TARGET_PANELS, false);
    set_limits(&b->limits);
    set_tests(b, b->session->model->model_kind == KIND_ENCODER);
    set_rows(b, narrow);
    return b;
}

ReportExample report_example(bool sentences)
{
    static BenchOperation list[] = {
        { "rt_linear_f32", "encoder.{}.self_attn.qkv", 41234, 2, 1e6, 1e5 },
        { "rt_attention_f32", "encoder.{}.self_attn.context", 9000, 2, 1e5, 0 },
    };
    ReportExample x = { .count = 2 };
    for (int i = 0; i < 2; i++) x.benches[i] = open_bench(&options[sentences][i], i == 1);
    const BenchOperations operations = { &x.benches[0]->tests[0], list, 2, 50234 };
    const Bench *const all[] = { x.benches[0], x.benches[1] };
    x.page = bench_report(all, 2, &operations);
    x.chart = bench_chart(all, 2);
    return x;
}

void report_example_free(ReportExample *x)
{
    for (int i = 0; i < x->count; i++) session_free(x->benches[i]->session);
}
