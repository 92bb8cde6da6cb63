/* trace.h: the tensors that a model computed from given inputs, by name, and distances between
 * them.
 *
 * The names are those of the graph, such as encoder.0.self_attn.weights; the rows of a decoder are
 * gathered over its steps. */
#ifndef TRACE_H
#define TRACE_H

#include "engine.h"

/* lowest: -inf is allowed, as in a bias that attention adds to its scores. */
typedef struct TraceTensor {
    const char *name;
    int rank;
    int64_t shape[3];
    float *values;
    bool lowest;
} TraceTensor;
typedef struct Trace { TraceTensor *tensors; int count; rt_status status; } Trace;

/* Encode `source`, then feed `target` one id at a time. Gathers every tap of the plan and the
 * outputs, such as `logits` or `log_probs`; without taps, only the outputs. */
Trace *trace_run(Arena *a, Engine *e, const int *source, int n, const int *target, int m);
/* Run an xf.graph. Gathers inputs, outputs, named masks and biases and, with taps, all named
 * values, in the order of the spec. */
Trace *trace_graph(Arena *a, Engine *e);
/* The names that trace_run or trace_graph would gather from an engine on this plan, in the same
 * order, without values. */
Trace *trace_names(Arena *a, const Plan *p);
const TraceTensor *trace_find(const Trace *t, const char *name);       /* NULL if absent */

/* max |a - b| / max |b| over the tensor. 0 if both are all zero; infinity if their shapes differ or
 * a number is not finite. If -inf is allowed in a, elements that are -inf in both are ignored. */
double trace_distance(const TraceTensor *a, const TraceTensor *b);

#endif
