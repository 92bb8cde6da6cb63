/* bench.h: how fast engines run a model, side by side, and how near to what the machine can do.
 *
 * A row is one test on one engine with one number of threads. Engines take turns: for each repetition of a test, each
 * engine in its turn runs it, uncounted at first and then again and again for its share of the time. A run begins with
 * an empty sequence. Everything lives in the bench's arena. */
#ifndef BENCH_H
#define BENCH_H

#include "clock.h"
#include "machine.h"
#include "session.h"
#include "svg.h"

/* What one run of a test does. */
typedef enum BenchWork {
    BENCH_ENCODE,           /* read a source of `prompt` tokens */
    BENCH_DECODE,           /* after a source that is already read: write `generated` tokens, one at a time */
    BENCH_BOTH,             /* the one and the other */
    BENCH_PROMPT,           /* read `prompt` tokens, as many rows at a time as there may be */
    BENCH_GENERATE,         /* write `generated` tokens, one at a time, from nothing */
    BENCH_SENTENCES,        /* read `batch` sources of `prompt` tokens, `at_once` in one call, or one after the other where an engine cannot */
    BENCH_GRAPH             /* run an xf.graph once */
} BenchWork;

typedef struct BenchTest {
    const char *name;               /* enc, dec, e2e, pp512, tg128, b8x128, run */
    BenchWork work;
    int prompt, generated, batch;   /* batch: 1 where there is none */
    int at_once;                    /* of a batch: the most that the longest source has room for */
    double flops, bytes;            /* of one run: weights and caches read, at least */
    double held;                    /* bytes that it reads over and over: they decide which level they come from */
} BenchTest;

typedef struct BenchEngine {
    const char *name, *kernels;     /* "native", "library" */
    const char *label;              /* both where it needs both */
    const char *compiler, *cflags;
    Engine *engine;
    int64_t pause_ns;               /* for which its threads stay awake after a run on several */
    int64_t compile_ns;             /* from a Plan to something that runs; 0: nothing is compiled */
    int64_t rss_bytes;              /* memory that the process took for it */
    double max_abs_err;             /* of its outputs, from those of the first engine; negative: not compared */
} BenchEngine;

typedef struct BenchRow {
    const BenchEngine *engine;
    const BenchTest *test;
    int threads;
    double *samples_ns;  int samples;       /* one for each repetition: the median of its runs */
    double *runs_ns;  int runs, room;       /* every run of all repetitions */
} BenchRow;

typedef struct Bench {
    const char *command;            /* in messages; NULL: bench */
    Session *session;
    Arena *arena;
    const Plan *plan;               /* of emitted code, whatever the engines: what the work is counted by */
    BenchEngine *engines;  int engine_count;
    BenchTest *tests;  int test_count;
    const int *threads;  int thread_count;
    int repetitions;
    double seconds;                 /* for each row; 0: 1, and less where there are many */
    int64_t deadline_ns;            /* from then on each row gets one repetition; 0: none */
    Limits limits;
    BenchRow *rows;  int row_count;
    bool late;                      /* the deadline has passed */
} Bench;

/* The numbers of threads: the n asked for; without any 1, 2, 3, 4 and from there on doubled, up to
 * all processors. needs: session.   gives: threads. */
void bench_choose_threads(Bench *b, const int *asked, int n);

/* The tests for this model, shortened with a remark where all of it would take too long.
 * needs: plan, engine_count, threads, repetitions, limits.   gives: tests, seconds, deadline_ns. */
void bench_tests(Bench *b);
/* The same without a remark: the part of their lengths that is left, a 1st where all of it is. */
int bench_choose_tests(Bench *b);

/* Measure every row. False after an error. needs: engines, tests.   gives: rows, engines' rss_bytes and max_abs_err. */
bool bench_measure(Bench *b);

/* The same for rows that are given with engine, test and threads: all of one test, which take turns among them. */
bool bench_turns(Bench *b, BenchRow *rows, int n);

/* What the times of a row mean. A token is one that was read or written. */
typedef struct BenchFigures {
    double avg_ns, stddev_ns;               /* of one run, over the repetitions */
    double avg_ts, stddev_ts, median_ts;    /* tokens a second, likewise; of an xf.graph, runs */
    double *samples_ts;                     /* [samples] */
    double median_sentences, stddev_sentences;      /* sentences a second */
    double by_native;                       /* speed / native's, median of each repetition's ratio; NaN: not measured beside it */
    double p50_ns, p90_ns, p99_ns;          /* of single runs */
    double gflops, gbps;                    /* reached, by the median */
    double limit_pct;                       /* 100 x least time / median time */
    LimitLevel level;                       /* where the bytes come from */
    bool by_flops;                          /* the limit is arithmetic, not reading */
} BenchFigures;
BenchFigures bench_figures(const Bench *b, const BenchRow *r);

/* The value below which a share of x[n] lies, between the two next to it; sorts x. */
double bench_quantile(double *x, int n, double share);
double bench_median(Arena *a, const double *x, int n);
/* Memory that the process has at present; 0 where the system does not tell. */
int64_t bench_resident_bytes(void);

/* Whether speed is reported in sentences: for encoders. */
bool bench_by_sentences(const Bench *b);

/* Whether native is one of several engines, so that the others are reported as parts of its speed. */
bool bench_by_native(const Bench *b);

/* "md", "json", "jsonl" or "csv". Keys: bench_print.c. */
void bench_print(const Bench *b, const char *format, FILE *to);
/* Bars by test, engine, dtype and threads, with shares of the limit, as SVG. The benches are of one model with weights of different
 * dtypes; the tests are the first's. */
Text bench_chart(const Bench *const *benches, int n);
/* The same bars as HTML, for pages of any width. */
void bench_bars(Text *t, const Bench *const *benches, int n);
/* The colour of an engine with one dtype, counted over all benches, and that number of a row of
 * bench k. */
SvgColour bench_colour(int number);
int bench_colour_number(const Bench *const *benches, int k, const BenchRow *r);
/* Every row on so many threads as a point under the machine's roofline, as SVG for a page: GFLOP/s
 * by FLOPs for a byte read; both axes are logarithmic. width: in pixels. */
Text bench_roofline(const Bench *const *benches, int n, int threads, int width);
/* The same as a file of its own, with a key of its colours. */
Text bench_roofline_file(const Bench *const *benches, int n, int threads);

/* What charts say: speed, its spread and its unit, "1,234,567", "dec: write 11 tokens". */
double bench_speed(const Bench *b, const BenchFigures *f);
double bench_around(const Bench *b, const BenchFigures *f);
const char *bench_unit(const Bench *b);
const char *bench_number(Arena *a, double x);
const char *bench_test_text(Arena *a, const BenchTest *t);
/* The rows of one test, of all benches: the next of them after *at of bench *k, or NULL. */
const BenchRow *bench_next_row(const Bench *const *benches, int n, const char *test, int *k,
                               int *at);
/* Where bars end: the fastest of a test with its spread; the largest share in percent, at
 * least 100. */
double bench_most_speed(const Bench *const *benches, int n, const BenchTest *test);
double bench_most_share(const Bench *const *benches, int n);
/* Text in HTML. */
void bench_add_text(Text *t, const char *s);

/* How long one operation takes in a run of a test, in all layers together: on the jit, on one thread. */
typedef struct BenchOperation { const char *kernel, *tensor; int64_t ns; int calls; double flops, bytes; } BenchOperation;
typedef struct BenchOperations { const BenchTest *test; BenchOperation *list; int count; int64_t ns; } BenchOperations;
/* Of the last test whose run takes at most half a second, else of the first; the median of several runs. False after an error. */
bool bench_operations(Bench *b, BenchOperations *out);

/* An engine whose operations can be watched, by the jit, on one thread, with these options of the
 * session's; NULL after an error. */
Engine *bench_open_watched(Bench *b, const CompileOptions *with);

/* One page of HTML that needs no other file: what was measured where, all of the above. `operations` is of the first. */
Text bench_report(const Bench *const *benches, int n, const BenchOperations *operations);

/* How many sentences of a batch an engine reads in one call. */
int bench_at_once(const BenchTest *t, const Engine *e);

/* One run of a test on an engine, and what must stand ready before the first. */
rt_status bench_run(const Bench *b, Engine *e, const BenchTest *t);
rt_status bench_ready(const Bench *b, Engine *e, const BenchTest *t);

/* "131.42 ± 0.59". */
const char *bench_spread(Arena *a, double x, double around);

/* "0.94 MiB"; "0.23 M". */
const char *bench_size(Arena *a, double bytes);
const char *bench_count(Arena *a, double n);

#endif
