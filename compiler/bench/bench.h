/* bench.h: measure how fast engines run a model, side by side and against the machine's limits.
 *
 * A row is one test on one engine with one number of threads. Engines take turns: in each
 * repetition of a test, each engine runs the test, first to warm up and then repeatedly for its
 * share of the time. A run of a decoder begins with an empty sequence. Everything lives in the
 * bench's arena. */
#ifndef BENCH_H
#define BENCH_H

#include "clock.h"
#include "machine.h"
#include "session.h"
#include "svg.h"

/* The work of one run of a test. */
typedef enum BenchWork {
    BENCH_ENCODE,           /* read a source of `prompt` tokens */
    BENCH_DECODE,           /* write `generated` tokens, one at a time; the source is read
                             * beforehand */
    BENCH_BOTH,             /* BENCH_ENCODE, then BENCH_DECODE */
    BENCH_PROMPT,           /* read `prompt` tokens, as many rows per call as the engine takes; the
                             * last by itself */
    BENCH_GENERATE,         /* write `generated` tokens, one at a time, without a prompt */
    BENCH_SENTENCES,        /* read `batch` sources of `prompt` tokens: `at_once` per call if the
                             * engine can, else one */
    BENCH_GRAPH             /* run an xf.graph once */
} BenchWork;

typedef struct BenchTest {
    const char *name;               /* enc, dec, e2e, pp512, tg128, b8x128, run */
    BenchWork work;
    int prompt, generated, batch;   /* batch: 1 for tests without batches */
    int at_once;                    /* sources of a batch that fit into max_source together */
    double flops, bytes;            /* of one run; bytes: the least that it reads of weights and
                                     * caches */
    double held;                    /* working set in bytes; it decides from which level of memory
                                     * the bytes come */
} BenchTest;

typedef struct BenchEngine {
    const char *name, *kernels;     /* "native", "library" */
    const char *label;              /* what tables, charts and messages call it */
    const char *about;              /* a phrase that says what does the computing; NULL: none */
    const char *compiler, *cflags;
    Engine *engine;
    int64_t pause_ns;               /* after a repetition on several threads, so that they sleep */
    int64_t compile_ns;             /* to open the engine (Ablation: to compile it); 0: nothing is
                                     * compiled */
    int64_t rss_bytes;              /* growth of the process's resident memory for this engine */
    double max_abs_err;             /* of outputs vs. `its` of bench_try; negative: not compared */
    double largest;                 /* largest absolute value among the outputs that they were
                                     * compared with */
} BenchEngine;

typedef struct BenchRow {
    const BenchEngine *engine;
    const BenchTest *test;
    int threads;
    double *samples_ns;  int samples;       /* one per repetition: the median of its runs */
    double *runs_ns;  int runs, room;       /* every run of all repetitions */
} BenchRow;

typedef struct Bench {
    const char *command;            /* the command's name in messages; NULL: bench */
    Session *session;
    Arena *arena;
    const Plan *plan;               /* TARGET_PANELS, whatever the engines: it gives FLOPs and
                                     * bytes */
    BenchEngine *engines;  int engine_count;
    BenchTest *tests;  int test_count;
    const int *threads;  int thread_count;
    int repetitions;
    double seconds;                 /* for each row; 0: 1 s, or less if there are many rows */
    int64_t deadline_ns;            /* from then on, no row gets a repetition after its first; 0: no
                                     * deadline */
    Limits limits;
    BenchRow *rows;  int row_count;
    bool late;                      /* the deadline has passed */
} Bench;

/* Choose the numbers of threads: the n asked for; if none, 1, 2, 3, 4 and then doubling, up to all
 * processors. None exceeds LIMIT_THREADS or session_max_threads.
 * needs: session.   gives: threads. */
void bench_choose_threads(Bench *b, const int *asked, int n);

/* Probe the machine. False, after an error, if it has no memory or no threads for the probe.
 * needs: session, threads.   gives: limits. */
bool bench_probe(Bench *b);

/* Choose the tests for this model; if `seconds` is 0 and all would take too long, shorten them, or
 * leave out the longest, with a remark.
 * needs: session, plan, engine_count, threads, repetitions, seconds, limits.
 * gives: tests, seconds, deadline_ns. */
void bench_tests(Bench *b);
/* Like bench_tests, without a remark. Returns the factor by which the lengths, or for an
 * encoder-only model the most tokens of a test, are reduced; 1: not at all. */
int bench_choose_tests(Bench *b);

/* Copy the tests of another bench for a model that differs only in its dtype, and count their work
 * again.
 * needs: plan.   gives: tests. */
void bench_tests_like(Bench *b, const Bench *other);

/* Run every test once on an engine, to measure its memory, and compare its outputs with those of
 * `its`, an engine with the same vocabulary and lengths; NULL: do not compare. False after an
 * error.
 * needs: session, tests.   gives: rss_bytes, max_abs_err and largest of the engine. */
bool bench_try(Bench *b, BenchEngine *e, const BenchEngine *its);

/* Measure every row. False after an error.
 * needs: session, engines, threads, repetitions, seconds, tests.
 * gives: rows; rss_bytes, max_abs_err and largest of the engines. */
bool bench_measure(Bench *b);

/* Measure n rows of one test in turn. The caller sets the engine, test and threads of each. False
 * after an error. */
bool bench_turns(Bench *b, BenchRow *rows, int n);

/* Figures computed from the times of a row. Tokens read and tokens written both count. */
typedef struct BenchFigures {
    double avg_ns, stddev_ns;               /* of one run, over the repetitions */
    double avg_ts, stddev_ts, median_ts;    /* tokens/s, likewise; for an xf.graph, runs/s */
    double *samples_ts;                     /* [samples] */
    double median_sentences, stddev_sentences;      /* sentences/s */
    double by_native;                       /* median over repetitions of speed / native's speed;
                                             * NaN: not measured next to native */
    double p50_ns, p90_ns, p99_ns;          /* of single runs */
    double gflops, gbps;                    /* achieved, from the median time */
    double limit_pct;                       /* 100 x least possible time / median time */
    LimitLevel level;                       /* the level of memory from which the bytes come */
    bool by_flops;                          /* limited by arithmetic, not by reading memory */
} BenchFigures;
BenchFigures bench_figures(const Bench *b, const BenchRow *r);

/* A quantile of x[n], 0 <= share <= 1, linearly interpolated; sorts x. */
double bench_quantile(double *x, int n, double share);
double bench_median(Arena *a, const double *x, int n);
/* Resident memory of the process now; 0 if the system does not report it. */
int64_t bench_resident_bytes(void);

/* True if speed is reported in sentences/s: for encoder-only models. */
bool bench_by_sentences(const Bench *b);

/* True if native is one of several engines; then speeds are also reported relative to it. */
bool bench_by_native(const Bench *b);

/* Report, as notes of the session, several threads that are slower than one and doubtful limits. */
void bench_remark(const Bench *b);
/* "md", "json", "jsonl" or "csv". Keys: bench_print.c. */
void bench_print(const Bench *b, const char *format, FILE *to);
/* A bar chart by test, engine, dtype and threads, with shares of the limit, as SVG. Each bench has
 * the same model with weights of a different dtype; the tests are those of the first bench. */
Text bench_chart(const Bench *const *benches, int n);
/* The bars of bench_chart as HTML, for pages of any width. */
void bench_bars(Text *t, const Bench *const *benches, int n);
/* The colour of an engine of a bench, by its number, counted across all benches.
 * bench_colour_number gives the number for a row of bench k. */
SvgColour bench_colour(int number);
int bench_colour_number(const Bench *const *benches, int k, const BenchRow *r);
/* Plot every row with `threads` threads as a point under the machine's roofline, as SVG for a page:
 * GFLOP/s over FLOPs per byte read; both axes are logarithmic. width: in pixels. */
Text bench_roofline(const Bench *const *benches, int n, int threads, int width);
/* The roofline as a separate file, with a legend. */
Text bench_roofline_file(const Bench *const *benches, int n, int threads);

/* Labels of charts: speed, its spread and its unit, "1,234,567", "dec: write 11 tokens". */
double bench_speed(const Bench *b, const BenchFigures *f);
double bench_around(const Bench *b, const BenchFigures *f);
const char *bench_unit(const Bench *b);
const char *bench_number(Arena *a, double x);
const char *bench_test_text(Arena *a, const BenchTest *t);
/* Iterate over the rows of one test in all benches: returns the next row from row *at of bench *k
 * on, or NULL, and advances both. Begin with 0, 0. */
const BenchRow *bench_next_row(const Bench *const *benches, int n, const char *test, int *k,
                               int *at);
/* The ends of the scales: the largest sum of a speed and its spread in a test; the largest share of
 * the limit in percent, rounded up to a multiple of 25, at least 100. */
double bench_most_speed(const Bench *const *benches, int n, const BenchTest *test);
double bench_most_share(const Bench *const *benches, int n);
/* Append `s` as HTML text, escaped. */
void bench_add_text(Text *t, const char *s);

/* Time of one operation in a run of a test, summed over all layers, with the jit on one thread. */
typedef struct BenchOperation { const char *kernel, *tensor; int64_t ns; int calls; double flops, bytes; } BenchOperation;
typedef struct BenchOperations { const BenchTest *test; BenchOperation *list; int count; int64_t ns; } BenchOperations;
/* Time the operations of the last test that some engine runs in less than half a second with the
 * first number of threads, else of the first test. *out receives the one of several runs that has
 * the median time. False after an error. */
bool bench_operations(Bench *b, BenchOperations *out);

/* Open a jit engine whose operations can be watched (jit_watch), on one thread. `with` replaces the
 * session's options. NULL after an error. */
Engine *bench_open_watched(Bench *b, const CompileOptions *with);

/* A self-contained HTML page: bars, rooflines, the rows, `operations`, which are those of
 * benches[0], and the engines. */
Text bench_report(const Bench *const *benches, int n, const BenchOperations *operations);

/* The number of sentences of a batch that an engine reads in one call. */
int bench_at_once(const BenchTest *t, const Engine *e);

/* Run a test once on an engine; call bench_ready once before the first run. */
rt_status bench_run(const Bench *b, Engine *e, const BenchTest *t);
rt_status bench_ready(const Bench *b, Engine *e, const BenchTest *t);

/* "131.42 ± 0.59". */
const char *bench_spread(Arena *a, double x, double around);

/* "1.94 MiB"; "1.23 M". */
const char *bench_size(Arena *a, double bytes);
const char *bench_count(Arena *a, double n);

#endif
