/* verify_parts.h: what the files of `verify` share. */
#ifndef VERIFY_PARTS_H
#define VERIFY_PARTS_H

#include "trace.h"
#include "verify.h"
#include "verify_table.h"

/* An engine as it is run: with or without taps, on so many lanes. */
typedef struct Subject { Engine *engine; const char *label; int lanes; bool tapped; } Subject;

/* Subject a is held to subject b: to the bit, or as what is computed apart from it. */
typedef struct Pair { int a, b; bool bits, apart; } Pair;

typedef struct Verify {
    Arena *arena;
    Diag *diag;
    const Model *model;
    const VerifyOptions *options;
    VerifyTable table;
    Subject *subjects;  int subject_count;
    Pair *pairs;  int pair_count;
    const Trace *guide;             /* of a quantised model: what the first subject computed, which a generic engine follows; else NULL */
    int unknown;                    /* tensors of the reference that the model does not have */
} Verify;

/* Run one subject on ids; NULL after an error told. `into` holds the trace. */
Trace *verify_trace(Verify *v, Arena *into, const Subject *s, const int *source, int n, const int *target, int m);
/* The same for an xf.graph whose inputs are set. */
Trace *verify_trace_graph(Verify *v, Arena *into, const Subject *s);

/* Compare every subject with the file options->against. False after an error told. */
bool verify_reference(Verify *v);

#endif
