/* verify.h: compare engines with each other or with a reference, tensor by tensor.
 *
 * The caller opens and closes the engines; labels and the table live in the given arena. Each
 * engine, with taps if it has them, is compared with the first one and with the generic one.
 * Without taps it is compared with the same engine with taps; on several threads, with the same
 * engine on one thread. Distances are those of trace.h, or of single operations (verify_alone.c); a
 * row has the maximum over all inputs. */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdio.h>

#include "engine.h"

typedef struct VerifyEngine {
    Engine *tapped, *plain;         /* the same engine with and without taps; one may be NULL */
    int same_bits;                  /* engines with the same number above 0 must agree bit for bit,
                                     * with any number of threads */
} VerifyEngine;

typedef struct VerifyOptions {
    const char *against;            /* a safetensors file to compare with, instead of running random
                                     * inputs; or NULL */
    uint64_t seed;                  /* for random inputs */
    int threads;                      /* engines without taps also run on this many, unless 1 */
    bool all;                       /* print every row, not only the worst of each tensor */
    const char *more;               /* JSON members after the rows, each preceded by a comma */
    bool json;                      /* print all rows as JSON instead of a table: {"engines":[…],
                                     * "rows":[{"name","engine","against","distance",
                                     * "end_to_end"}…]} */
} VerifyOptions;

/* Run the engines on several inputs and print the results to `out`. The inputs are those of
 * `options->against`; without it, random ids of various lengths or, for an xf.graph, the numbers of
 * the spec and then random ones.
 *
 * A reference has the ids that the model takes, the integers `source` [n] and `target` [m] (for an
 * xf.graph, any of its inputs), and any tensors of the graph by name. The integers of `greedy` are
 * the ids that the model should generate from the start token on; `second` tells where the second
 * text of a pair begins.
 *
 * EXIT_DONE: all are within tolerance. EXIT_DIFFERS: not all are, and the first tensor that differs
 * is named, in `out` or, with json, in a remark to `d`; or the reference has a tensor that the
 * model lacks, which a remark names. Otherwise the exit code of an error that was reported to `d`,
 * such as 65 for a reference that does not fit the model. */
Exit verify_run(Arena *a, Diag *d, const Model *m, const VerifyEngine *engines, int n, const VerifyOptions *options, FILE *out);

/* The number of inputs on which each engine runs if there is no file `against`. */
int verify_inputs(const Graph *g);

/* Check, before an engine is opened, that the file `against` can be read and has the ids that the
 * model needs; false after a reported error. */
bool verify_reference_fits(Arena *a, Diag *d, const Model *m, const char *against);

#endif
