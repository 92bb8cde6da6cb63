/* ablation.h: forms of one model, from the generic engine to int4, each of which changes something
 * in the previous one; they are measured in turn. */
#ifndef ABLATION_H
#define ABLATION_H

#include "bench.h"

/* A form. `change` says what is new in it. */
typedef struct AblationStep {
    const char *name, *change;
    const char *isa;                /* "portable"; "" if none of our kernels runs */
    Bench *bench;                   /* the one of its dtype */
    BenchEngine *engine;            /* max_abs_err, largest: compared with the previous step */
    int threads;
} AblationStep;

/* Benches: one for each dtype; the first is f32 and has the tests that all steps run. The sessions
 * of the others belong to the Ablation, and so do all engines. */
enum { ABLATION_STEPS = 12, ABLATION_BENCHES = 8 };
typedef struct Ablation {
    Bench benches[ABLATION_BENCHES];  int bench_count;
    AblationStep steps[ABLATION_STEPS];  int count;
    BenchRow *rows;                 /* [tests][count] */
    const char *left_out[ABLATION_STEPS];  int left_count;         /* steps left out, and why */
} Ablation;

/* Open and measure all steps. Before the call, benches[0] has an open session with dtype f32, its
 * arena, and values for repetitions and seconds. asked[n]: numbers of threads, of which the last
 * steps use the largest; n 0: all processors. False after an error; *failed is the session that has
 * it. */
bool ablation_measure(Ablation *a, const int *asked, int n, Session **failed);
/* Close the engines and the sessions of the Ablation, except `kept`. */
void ablation_close(Ablation *a, const Session *kept);

/* The row of a step in a test. */
const BenchRow *ablation_row(const Ablation *a, int test, int step);
/* Speed divided by that of another step: the median, over the repetitions, of the ratio. */
double ablation_ratio(const Ablation *a, int test, int step, int other);
/* The distance of a step's outputs from those of the previous step: the largest difference, divided
 * by the previous step's largest absolute value unless that is 0; NaN for the first step. */
double ablation_distance(const AblationStep *s);

/* Report, as notes of the first session, threads that are slower than one and doubtful limits. */
void ablation_remark(const Ablation *a);
/* The engine, form of kernels and instruction set of each step but generic, in one line. */
const char *ablation_engines(const Ablation *a, Arena *arena);
/* Markdown tables; JSON: {"steps":[…],"rows":[…],"left_out":[…]}. */
void ablation_print(const Ablation *a, FILE *to);
void ablation_print_json(const Ablation *a, FILE *to);
/* A waterfall for each test: as an SVG file, or for use inside a page, `width` pixels wide. */
Text ablation_chart(const Ablation *a);
Text ablation_chart_inline(const Ablation *a, int width);
/* A self-contained HTML page with tables and waterfalls. */
Text ablation_report(const Ablation *a);

#endif
