/* ablation.h: forms of one model from the generic engine to int4, each with one change more than the
 * one before, measured in turns on the same weights. */
#ifndef ABLATION_H
#define ABLATION_H

#include "bench.h"

/* A form. `change` says what is new in it. */
typedef struct AblationStep {
    const char *name, *change;
    const char *isa;                /* "avx512vnni"; "" if no kernel of ours runs */
    Bench *bench;                   /* the one of its dtype */
    BenchEngine *engine;            /* max_abs_err, largest: from the step before */
    int threads;
} AblationStep;

/* Benches: one for each dtype; the first is f32 and has the tests that all steps run. Sessions of
 * the others belong to the Ablation, and so do all engines. */
enum { ABLATION_STEPS = 12, ABLATION_BENCHES = 8 };
typedef struct Ablation {
    Bench benches[ABLATION_BENCHES];  int bench_count;
    AblationStep steps[ABLATION_STEPS];  int count;
    BenchRow *rows;                 /* [tests][count] */
    const char *left_out[ABLATION_STEPS];  int left_count;         /* steps that are not here, with the reason */
} Ablation;

/* Open and measure all steps. benches[0] has a session of dtype f32 that was opened, its arena and the
 * repetitions; asked[n]: numbers of threads, of which the largest is used; n 0: all processors.
 * False after an error, which *failed, a session, has. */
bool ablation_measure(Ablation *a, const int *asked, int n, Session **failed);
/* Close engines and the sessions of the Ablation except `kept`. */
void ablation_close(Ablation *a, const Session *kept);

/* The row of a step in a test. */
const BenchRow *ablation_row(const Ablation *a, int test, int step);
/* Speed divided by that of another step: the median of the ratios of each repetition. */
double ablation_ratio(const Ablation *a, int test, int step, int other);
/* The distance of its outputs from those of the step before: largest difference / largest value;
 * NaN for the first. */
double ablation_distance(const AblationStep *s);

/* Tables of Markdown; JSON: {"steps":[…],"rows":[…],"left_out":[…]}. */
void ablation_print(const Ablation *a, FILE *to);
void ablation_print_json(const Ablation *a, FILE *to);
/* A waterfall for each test, as an SVG file; and inside a page, in pixels. */
Text ablation_chart(const Ablation *a);
Text ablation_chart_inline(const Ablation *a, int width);
/* A page of HTML with tables and waterfalls that needs no other file. */
Text ablation_report(const Ablation *a);

#endif
