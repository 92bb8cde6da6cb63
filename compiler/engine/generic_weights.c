/* generic_weights.c: the weights of the generic engine: dense, row-major, as f32, and rounded as
 * their formats leave them. They are kept, or read for one operation and forgotten. */
#include "generic.h"
#include "weights.h"

#include <stdlib.h>

void generic_round_weights(float *w, const Plan *p, const Tensor *t)
{
    const Format f = p->formats[t->id];
    if (format_is_narrow(f)) round_narrow(w, f, t->dim[0].bound, t->dim[1].bound);
}

static void read_dense(float *to, const Plan *p, const Tensor *t, int layer)
{
    const TensorSource *source = t->source[layer];
    tensor_read(source, to);
    const bool as_stored = tensor_block_bits(source) == format_bits(p->formats[t->id]);
    if (!as_stored) generic_round_weights(to, p, t);
}

float *generic_kept_weights(Generic *own, const Plan *p, const Tensor *t, int layer)
{
    const int64_t n = tensor_elements(t->source[layer]);
    float *values = arena_array(own->arena, (size_t)n, sizeof *values);
    read_dense(values, p, t, layer);
    return values;
}

void generic_open_weights(Generic *own, const Plan *p, bool keep)
{
    const Graph *g = p->graph;
    own->weights = arena_array(own->arena, (size_t)g->tensor_count, sizeof *own->weights);
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        if (t->kind != TENSOR_PARAM) continue;
        const int n = t->layers ? t->layers : 1;
        own->weights[t->id] = arena_array(own->arena, (size_t)n, sizeof **own->weights);
        for (int j = 0; keep && j < n; j++)
            own->weights[t->id][j] = generic_kept_weights(own, p, t, j);
    }
}

const float *generic_read_weights(const Engine *e, const Tensor *t, int layer)
{
    Generic *own = e->own;
    const TensorSource *source = t->source[layer];
    float **w = &own->weights[t->id][layer];
    const int64_t n = tensor_elements(source);
    enum { MOST = sizeof own->anew / sizeof *own->anew };
    if (own->anew_count == MOST) die("too many weights in an operation");
    *w = malloc((size_t)n * sizeof **w + 1);
    if (!*w) no_memory("the %lld numbers of %s", (long long)n, source->name);
    own->anew[own->anew_count++] = w;
    read_dense(*w, e->plan, t, layer);
    return *w;
}

void generic_forget_weights(Generic *own)
{
    while (own->anew_count) {
        float **w = own->anew[--own->anew_count];
        free(*w);
        *w = NULL;
    }
}
