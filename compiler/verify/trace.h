/* trace.h: what a model computed on given inputs, by name, and how far two of them lie apart.
 *
 * The names are those of the graph (encoder.0.self_attn.weights); a decoder's rows are gathered over its steps. */
#ifndef TRACE_H
#define TRACE_H

#include "engine.h"

/* lowest: -inf may stand in it, as in what an attention adds to scores. */
typedef struct TraceTensor {
    const char *name;
    int rank;
    int64_t shape[3];
    float *values;
    bool lowest;
} TraceTensor;
typedef struct Trace { TraceTensor *tensors; int count; rt_status status; } Trace;

/* Encode `source`, then feed `target` one id after the other. Gathers every tap of the plan, and `logits` or
 * `log_probs` as outputs; without taps only the outputs. */
Trace *trace_run(Arena *a, Engine *e, const int *source, int n, const int *target, int m);
/* Run an xf.graph: inputs, named values and outputs, in order of the spec. */
Trace *trace_graph(Arena *a, Engine *e);
/* What those would gather of an engine on this plan, in order of execution: names without values. */
Trace *trace_names(Arena *a, const Plan *p);
const TraceTensor *trace_find(const Trace *t, const char *name);       /* NULL if absent */

/* max |a - b| / max |b| over the tensor; 0 where both are all zero, infinity where a is not finite.
 * Where -inf may stand, one in both is not a distance. */
double trace_distance(const TraceTensor *a, const TraceTensor *b);

#endif
