/* model_tensors.c: find the tensors of a Model by name, and count its parameters. */
#include "model.h"

int64_t tensor_elements(const TensorSource *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->shape[i];
    return n;
}

static bool is_computed(const TensorSource *t)
{
    return t->kind == SOURCE_SINUSOID || t->kind == SOURCE_ROTARY || t->kind == SOURCE_DISTANCE || t->computed;
}

int64_t model_parameters(const Model *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->tensor_count; i++)
        if (!is_computed(&m->tensors[i])) n += tensor_elements(&m->tensors[i]);
    return n;
}

const TensorSource *model_tensor(const Model *m, const char *name)
{
    return m->tensor_of ? name_map_find(m->tensor_of, name) : NULL;
}
