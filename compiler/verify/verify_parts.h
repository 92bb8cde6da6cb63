/* verify_parts.h: declarations shared by the files of `verify`. */
#ifndef VERIFY_PARTS_H
#define VERIFY_PARTS_H

#include "trace.h"
#include "verify.h"
#include "verify_table.h"

/* An engine as it runs: with or without taps, on this many threads. */
typedef struct Subject { Engine *engine; const char *label; int threads; bool tapped; } Subject;

/* The results of the follower for each operation, computed from the numbers of one subject, and for
 * each result the sum of the absolute values of its terms (generic_weigh): verify_alone.c. */
typedef struct Alone { Trace *values, *sizes; } Alone;

/* Compare subject a with subject b. bits: bit for bit. apart: with model_tolerance_apart. */
typedef struct Pair { int a, b; bool bits, apart; } Pair;

/* The inputs of all subjects: ids, or, for an xf.graph, a state of the follower, which contains the
 * inputs and caches. */
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
    const Inputs *inputs;           /* of the traces being compared; NULL: do not run them again */
    Alone *alone;                   /* [subject_count], for those traces, each made when needed */
    unsigned char **states;         /* [subject_count], of an xf.graph: a sequence so far; several
                                     * subjects may share an engine */
    const Trace *guide;             /* the trace that a generic engine follows: that of the first
                                     * subject if model_rounds, or one that verify_alone sets; NULL:
                                     * none */
    int unknown;                    /* tensors of the reference that the model does not have */
} Verify;

static inline bool verify_is_generic(const Engine *e) { return e->plan->options.target == TARGET_ROW_MAJOR; }

/* Run one subject on ids; NULL after a reported error. The trace lives in `into`. */
Trace *verify_trace(Verify *v, Arena *into, const Subject *s, const int *source, int n, const int *target, int m);
/* verify_trace for an xf.graph whose inputs are set. */
Trace *verify_trace_graph(Verify *v, Arena *into, const Subject *s);

/* The distance of a tensor if only its operation is compared: the follower computes it from the
 * engine's own inputs of that operation. The distance is max |a - b| / the largest sum of the
 * absolute values of terms; if neither of the pair is the follower, it is the larger of the two
 * distances. For an engine without taps it is estimated from an engine with taps; infinity if there
 * is none. traces: of all subjects. */
double verify_alone(Verify *v, const Pair *p, Trace *const *traces, const char *name);

/* Compare every subject with the file options->against. False after an error that ends the
 * comparison; a result of a wrong shape is an error that does not. */
bool verify_reference(Verify *v);

#endif
