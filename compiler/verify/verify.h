/* verify.h: whether engines compute the same, each other's and a reference's, tensor by tensor.
 *
 * The caller opens the engines and closes them; labels and the table live in the arena given. Every engine that has
 * taps is compared with the first one and with the generic one; without taps with itself with them; on several threads
 * with itself on one. A distance is that of trace.h, its largest over all inputs. */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdio.h>

#include "engine.h"

typedef struct VerifyEngine {
    Engine *tapped, *plain;         /* the same engine on a plan with taps and on one without; one may be NULL */
    int same_bits;                  /* those of one number above 0 must agree bit for bit, whatever their threads */
} VerifyEngine;

typedef struct VerifyOptions {
    const char *against;            /* a safetensors file to compare with instead of random inputs; or NULL */
    uint64_t seed;                  /* of random inputs */
    int threads;                      /* what has no taps runs on so many threads too; 1: does not */
    bool all;                       /* every row, not only the worst of each tensor */
    const char *more;               /* of JSON: members behind the rows, each with a comma before it; or NULL */
    bool json;                      /* all rows, instead of a table: {"engines":[…], "rows":[{"name","engine","against","distance","end_to_end"}…]} */
} VerifyOptions;

/* Run the engines on several inputs (of an encoder-decoder: random ids, shortest to longest; of an xf.graph: the
 * spec's numbers, then random ones) or on those of `options->against`, and print what was found to `out`.
 *
 * A reference holds `source` and `target` as integers [n] and [m] (an xf.graph: its inputs), and anything by its name
 * in the graph; `greedy`, integers, are the ids to be generated from the start mark on.
 * EXIT_DONE: all within tolerance. EXIT_DIFFERS: not; the first tensor that departs is named, in `out` or, with json,
 * as a remark to `d`; or the reference has a tensor that the model has not, which a remark names. Else an error was reported
 * to `d`: 65 for a reference that does not fit the model. */
Exit verify_run(Arena *a, Diag *d, const Model *m, const VerifyEngine *engines, int n, const VerifyOptions *options, FILE *out);

/* How many inputs an engine runs where there is no file `against`. */
int verify_inputs(const Graph *g);

/* Whether the file `against` can be read and holds the ids that the model needs, before any engine is opened; false
 * after a reported error. */
bool verify_reference_fits(Arena *a, Diag *d, const Model *m, const char *against);

#endif
