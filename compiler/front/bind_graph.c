/* bind_graph.c: bind the params of a graph to values of the spec, tensors of a file, or random
 * numbers. */
#include "bind_find.h"

#include <string.h>

/* Mark the weights of matmuls: they are read as [in, out], but NAME.weight in a file is the weight
 * of a linear, [out, in]. */
void finder_mark_matmuls(Finder *f)
{
    const GraphSpec *g = f->model->graph;
    f->of_matmul = arena_array(f->arena, (size_t)g->values + 1, sizeof *f->of_matmul);
    for (int i = 0; i < g->count; i++) {
        const GraphCall *c = &g->calls[i];
        if (!strcmp(c->op, "matmul") && c->input_count > 1 && c->inputs[1] >= 0) f->of_matmul[c->inputs[1]] = true;
    }
}

static const char *lower(Arena *a, const char *s)
{
    char *copy = arena_text(a, s);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    return copy;
}

/* Use the file's tensor of that name. If there is none, a matrix may be the weight of a linear,
 * such as W_Q.weight or w_q.weight for W_Q, which is transposed if a matmul reads it. */
static void find_param(Finder *f, const GraphCall *call, TensorSource *t)
{
    const TensorSource *found = tensor_file_find(f->model->weight_file, t->name);
    bool linear = !found && t->rank == 2;
    if (linear) found = finder_spelling(f, arena_format(f->arena, "(%s|%s).weight", t->name, lower(f->arena, t->name)));
    if (!found) {
        finder_missing(f, t, t->name);
        return;
    }
    bool transposed = linear && f->of_matmul[call->first_result];
    if (transposed) finder_shape(t, t->shape[1], t->shape[0]);
    finder_take(f, t, found);
    if (!transposed) return;
    int64_t columns = t->shape[0];
    t->stride[0] = 1;
    t->stride[1] = t->shape[1];
    t->shape[0] = t->shape[1];
    t->shape[1] = columns;
}

void finder_add_param(Finder *f, const GraphCall *call)
{
    TensorSource t = { .name = call->name, .dtype = DTYPE_F32, .rank = call->rank, .values = call->values };
    int64_t stride = 1;
    for (int i = t.rank - 1; i >= 0; i--) {
        t.shape[i] = call->shape[i];
        t.stride[i] = stride;
        stride *= t.shape[i];
    }
    if (t.values && !f->draft->weights) t.kind = SOURCE_VALUES;
    else if (f->model->weight_file) find_param(f, call, &t);
    else finder_random(f, &t, t.rank > 1 ? ROLE_WEIGHT : ROLE_BIAS, t.rank > 1 ? t.shape[1] : t.rank ? t.shape[0] : 1);
    finder_append(f, t);
}
