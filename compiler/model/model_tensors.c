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

/* True if an earlier tensor has the same elements of a file, such as the embeddings of an encoder
 * and a decoder that share them. */
static bool is_counted(const Model *m, int i)
{
    const TensorSource *t = &m->tensors[i];
    for (int k = 0; k < i && t->kind == SOURCE_FILE; k++) {
        const TensorSource *u = &m->tensors[k];
        if (u->kind == SOURCE_FILE && u->file == t->file && u->offset == t->offset && u->start == t->start && u->skip == t->skip &&
            tensor_elements(u) == tensor_elements(t)) return true;
    }
    return false;
}

int64_t model_parameters(const Model *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->tensor_count; i++)
        if (!is_computed(&m->tensors[i]) && !is_counted(m, i)) n += tensor_elements(&m->tensors[i]);
    return n;
}

const TensorSource *model_tensor(const Model *m, const char *name)
{
    return m->tensor_of ? name_map_find(m->tensor_of, name) : NULL;
}
