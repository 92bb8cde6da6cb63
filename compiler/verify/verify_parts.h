/* verify_parts.h: what the files of `verify` share. */
#ifndef VERIFY_PARTS_H
#define VERIFY_PARTS_H

#include "trace.h"
#include "verify.h"
#include "verify_table.h"

/* An engine as it is run: with or without taps, on so many threads. */
typedef struct Subject { Engine *engine; const char *label; int threads; bool tapped; } Subject;

/* What a reference made of each operation on the numbers of one subject, and what went into each
 * result: verify_alone.c. */
typedef struct Alone { Trace *values, *sizes; } Alone;

/* Subject a is compared with subject b: to the bit, or as what is computed apart from it. */
typedef struct Pair { int a, b; bool bits, apart; } Pair;

/* What subjects are run on: ids, or an xf.graph whose inputs and caches lie in a state of the
 * follower. */
typedef struct Inputs {
    Arena *arena;                   /* for traces */
    const int *source;  int n;
    const int *target;  int m;
    const unsigned char *state;     /* of an xf.graph; else NULL */
} Inputs;

typedef struct Verify {
    Arena *arena;
    Diag *diag;
    const Model *model;
    const VerifyOptions *options;
    VerifyTable table;
    Subject *subjects;  int subject_count;
    Pair *pairs;  int pair_count;
    int follower;                   /* a generic subject with taps; -1: none */
    const Inputs *inputs;           /* of the traces that are compared; NULL: not run again */
    Alone *alone;                   /* [subject_count], of those traces, each made when asked for */
    unsigned char **states;         /* [subject_count], of an xf.graph: a sequence so far; several
                                     * subjects may have one engine */
    const Trace *guide;             /* of a quantised model: what the first subject computed, which a generic engine follows; else NULL */
    int unknown;                    /* tensors of the reference that the model does not have */
} Verify;

static inline bool verify_is_generic(const Engine *e) { return e->plan->options.target == TARGET_ROW_MAJOR; }

/* Run one subject on ids; NULL after a reported error. `into` holds the trace. */
Trace *verify_trace(Verify *v, Arena *into, const Subject *s, const int *source, int n, const int *target, int m);
/* The same for an xf.graph whose inputs are set. */
Trace *verify_trace_graph(Verify *v, Arena *into, const Subject *s);

/* The distance of a tensor with its operation alone: the follower computes it from the numbers that
 * the engine had before it. max |a - b| / max of the sums of sizes; of two engines, the larger one.
 * Of an engine without taps it is estimated by one that has them; infinity where there is none.
 * traces: of all subjects. */
double verify_alone(Verify *v, const Pair *p, Trace *const *traces, const char *name);

/* Compare every subject with the file options->against. False after a reported error. */
bool verify_reference(Verify *v);

#endif
