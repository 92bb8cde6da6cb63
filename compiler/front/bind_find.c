/* bind_find.c: find one tensor by its canonical name in the weights file, under any accepted
 * spelling, or make it from a seed.
 *
 * A spelling is a pattern: (a|b) means a or b. Messages give the first spelling. Without a family,
 * the canonical name is tried last. */
#include "bind_find.h"

#include <math.h>
#include <string.h>

#include "dtypes.h"
#include "text.h"

TensorSource *finder_append(Finder *f, TensorSource t)
{
    Model *m = f->model;
    if (m->tensor_count == f->room) {
        size_t bytes = sizeof t * (size_t)f->room, more = bytes ? bytes * 2 : 64 * sizeof t;
        m->tensors = arena_grow(f->arena, m->tensors, bytes, more);
        f->room = (int)(more / sizeof t);
    }
    m->tensors[m->tensor_count] = t;
    return &m->tensors[m->tensor_count++];
}

void finder_shape(TensorSource *t, int64_t rows, int64_t columns)
{
    t->rank = columns ? 2 : 1;
    t->shape[0] = rows;
    t->stride[0] = columns ? columns : 1;
    t->shape[1] = columns;
    t->stride[1] = columns ? 1 : 0;
}

void finder_missing(Finder *f, const TensorSource *t, const char *spelling)
{
    if (f->missing_count == f->missing_room) {
        size_t bytes = sizeof *t * (size_t)f->missing_room, more = bytes ? bytes * 2 : 16 * sizeof *t;
        f->missing = arena_grow(f->arena, f->missing, bytes, more);
        f->missing_room = (int)(more / sizeof *t);
    }
    f->missing[f->missing_count] = *t;
    f->missing[f->missing_count++].file_name = spelling;
}

/* True for a tensor of a linear that has its own weights file (head_weights). */
static bool lies_beside(const Model *m, const char *name) { return m->head_weights.count && !strncmp(name, "head.", 5); }

/* The file to name in a message about a tensor. */
static const char *path_of(const Finder *f, const TensorSource *found)
{
    return lies_beside(f->model, found->name) ? found->file->path : f->model->weights_path;
}

static void tell_shape(Finder *f, const TensorSource *found, const int64_t *expected, int rank)
{
    if (f->differing++ < FINDER_MOST_TOLD)
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "tensor \"%s\" in %s has shape %s, expected %s", found->file_name, path_of(f, found),
                   shape_text(f->arena, found->shape, found->rank), shape_text(f->arena, expected, rank));
}

/* True if tensor_read can convert the tensor to f32. */
static bool is_readable(const TensorSource *t) { return dtype_is_float(t->dtype) || (t->dtype == DTYPE_I8 && t->group); }

static void take_from_file(Finder *f, TensorSource *t, const TensorSource *found)
{
    f->used[found - f->model->weight_file->tensors] = true;
    t->kind = SOURCE_FILE;
    t->file = found->file;
    t->file_name = found->name;
    t->offset = found->offset;
    t->start = found->start;
    t->dtype = found->dtype;
    t->group = found->group;
    t->scales = found->scales;
    if (!is_readable(found))
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "tensor \"%s\" in %s has %s, expected F32, F16, BF16 or F64",
                   found->file_name, path_of(f, found),
                   found->dtype == DTYPE_OTHER ? "an unsupported dtype" : arena_format(f->arena, "dtype %s", dtype_name(found->dtype)));
}

/* With --max-len, the stored position table may have more rows than the model uses. */
static bool may_be_longer(const Finder *f, const TensorSource *t, const TensorSource *found)
{
    return f->draft->longest && finder_ends_with(t->name, ".position.table") && found->rank == 2 && found->shape[0] >= t->shape[0]
        && found->shape[1] == t->shape[1];
}

/* Bind `t` to `found`, with its strides; report a shape that differs. */
void finder_take(Finder *f, TensorSource *t, const TensorSource *found)
{
    take_from_file(f, t, found);
    if (may_be_longer(f, t, found)) memcpy(t->stride, found->stride, sizeof t->stride);
    else if (t->rank == found->rank && !memcmp(t->shape, found->shape, sizeof *t->shape * (size_t)t->rank))
        memcpy(t->stride, found->stride, sizeof t->stride);
    else tell_shape(f, found, t->shape, t->rank);
}

static const LayerFields *layer_of(const Model *m, const char *name, int64_t layer)
{
    const Stack *s = !strncmp(name, "encoder.", 8) ? &m->encoder : &m->decoder;
    return s->layers ? &s->layer[layer < s->layers ? layer : 0] : NULL;
}

/* Add row 0 of the table that the file calls `file` to every row of `t`. */
static void add_vector(Finder *f, TensorSource *t, const char *file)
{
    const char *spelling = family_spelling(f->arena, f->family, file, t->name, 0);
    const TensorSource *found = finder_spelling(f, spelling);
    if (!found) {
        finder_missing(f, t, finder_first_spelling(f->arena, spelling));
        return;
    }
    TensorSource *v = arena_alloc(f->arena, sizeof *v);
    *v = (TensorSource){ .name = t->name, .rank = 1, .shape = { t->shape[1] } };
    take_from_file(f, v, found);
    if (found->rank != 2 || found->shape[1] != t->shape[1] || !found->shape[0])
        tell_shape(f, found, (const int64_t[]){ 1, t->shape[1] }, 2);
    v->stride[0] = found->stride[1];
    t->added = v;
}

/* Find a tensor with the family's table. A tensor without a row is reported as missing, under its
 * canonical name. */
static void add_of_family(Finder *f, TensorSource *t)
{
    int64_t layer, expected[2];
    int rank;
    const char *own = family_own_name(f->arena, f->family, t->name);
    const FamilyTensor *row = family_tensor(f->arena, f->family, own, &layer);
    if (!row) {
        finder_missing(f, t, t->name);
        return;
    }
    const TensorSource *found = finder_tied(f, t->name);
    if (!found) {
        const char *spelling = family_spelling(f->arena, f->family, row->file, t->name, layer);
        finder_missing(f, t, finder_first_spelling(f->arena, spelling));
        return;
    }
    take_from_file(f, t, found);
    if (row->added) add_vector(f, t, row->added);
    if (!family_view(row, layer_of(f->model, t->name, layer), found, t, expected, &rank)) tell_shape(f, found, expected, rank);
}

/* Initialise without a file: from the seed, Xavier for weights and uniform for biases; 1 for gains,
 * 0 for norm biases. */
void finder_random(const Finder *f, TensorSource *t, Role role, int64_t fan_in)
{
    static const SourceKind kinds[] = { [ROLE_WEIGHT] = SOURCE_XAVIER, [ROLE_BIAS] = SOURCE_UNIFORM,
        [ROLE_GAIN] = SOURCE_CONSTANT, [ROLE_NORM_BIAS] = SOURCE_CONSTANT };
    t->kind = kinds[role];
    t->seed = (uint64_t)f->model->seed;
    t->fan_in = fan_in;
    t->fan_out = t->shape[0];
    t->constant = role == ROLE_GAIN ? 1 : 0;
}

static void add_beside(Finder *f, TensorSource *t)
{
    const TensorSource *found = tensor_file_find(f->model->weight_file, t->name);
    if (found) finder_take(f, t, found);
    else finder_missing(f, t, t->name);
}

void finder_add(Finder *f, Role role, const char *name, const char *spellings, int64_t rows, int64_t columns, int64_t fan_in)
{
    TensorSource t = { .name = name, .dtype = DTYPE_F32 };
    finder_shape(&t, rows, columns);
    if (f->model->random_weights) {
        finder_random(f, &t, role, fan_in);
    } else if (lies_beside(f->model, name)) {
        add_beside(f, &t);
    } else if (f->family) {
        add_of_family(f, &t);
    } else {
        const TensorSource *found = finder_spelling(f, spellings);
        if (!found) found = tensor_file_find(f->model->weight_file, name);
        if (found) finder_take(f, &t, found);
        else finder_missing(f, &t, finder_first_spelling(f->arena, spellings));
    }
    finder_append(f, t);
}
