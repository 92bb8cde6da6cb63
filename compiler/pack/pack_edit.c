/* pack_edit.c: read and write single tensors of packed data; formats.def has the layouts. */
#include "pack_parts.h"
#include "weights.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(Arena *a, const PackEntry *e, int part)
{
    const Packed *k = e->packed;
    const Tensor *t = k->tensor[part];
    return k->layers ? tensor_layer_name(a, t, k->block->block->layer[e->layer_index]) : t->name;
}

static bool is_numbers(const Packed *k, int part)
{
    return k->tensor[part] && k->format != FORMAT_TABLE_I32 && k->format != FORMAT_DISTANCE_F32;
}

PackedTensor *pack_find(Arena *a, const Plan *p, const char *name, int *n)
{
    int count;
    const PackEntry *e = pack_entries(a, p, &count);
    const TensorSource *parent = model_tensor(p->graph->model, name);
    PackedTensor *found = NULL;
    *n = 0;
    for (int i = 0; i < 2 * count; i++) {
        const Packed *k = e[i / 2].packed;
        const int part = i % 2;
        if (!is_numbers(k, part)) continue;
        const TensorSource *source = k->tensor[part]->source[e[i / 2].layer_index];
        if (strcmp(source->name, name) != 0 && strcmp(name_of(a, &e[i / 2], part), name) != 0) continue;
        const bool transposed = parent && tensor_is_transposed(source, parent);
        const int64_t rows = source->rank > 1 ? source->shape[0] : 1, columns = source->shape[source->rank - 1];
        found = arena_grow(a, found, (size_t)*n * sizeof *found, (size_t)(*n + 1) * sizeof *found);
        found[(*n)++] = (PackedTensor){ k, part, e[i / 2].offset, transposed ? columns : rows, transposed ? rows : columns, transposed };
    }
    return found;
}

/* The index of number (r, c) of the model's tensor, in floats from the packed tensor's start. */
static size_t place(const PackedTensor *t, int64_t r, int64_t c)
{
    const Packed *k = t->packed;
    const int64_t row = t->transposed ? c : r, column = t->transposed ? r : c;
    const int64_t biased = k->format == FORMAT_PANELS_F32 && k->tensor[1] ? 1 : 0;
    /* In narrow panels only the biases are accessed here. */
    if (format_is_narrow(k->format)) return (size_t)(column / 16) * narrow_panel_bytes(k) / sizeof(float) + (size_t)(column % 16);
    switch (k->format) {
    case FORMAT_PANELS_F32:
        if (t->part) return (size_t)(column / 16 * k->shape[1] * 16 + column % 16);         /* biases first */
        return (size_t)(row / 16 * k->shape[1] * 16 + (column + biased) * 16 + row % 16);
    case FORMAT_VECTORS_F32: return (size_t)(t->part * k->shape[1] + column);
    default:                 return (size_t)(row * k->shape[1] + column);
    }
}

/* Room for the numbers of a tensor in narrow panels, as [outputs][in]; the caller frees it. */
static float *matrix_of(const PackedTensor *t)
{
    float *w = malloc((size_t)(t->rows * t->columns) * sizeof *w);
    if (!w) no_memory("the %lld numbers of %s", (long long)(t->rows * t->columns), t->packed->name);
    return w;
}

static bool is_narrow_matrix(const PackedTensor *t) { return format_is_narrow(t->packed->format) && !t->part; }

/* The index of number (r, c) of the model's tensor in the matrix of matrix_of. */
static int64_t matrix_place(const PackedTensor *t, int64_t r, int64_t c) { return t->transposed ? c * t->rows + r : r * t->columns + c; }

void pack_get(const unsigned char *data, const PackedTensor *t, float *values)
{
    if (is_narrow_matrix(t)) {
        float *w = matrix_of(t);
        unpack_narrow(data + t->offset, t->packed, w);
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t c = 0; c < t->columns; c++) *values++ = w[matrix_place(t, r, c)];
        free(w);
        return;
    }
    const float *from = (const float *)(const void *)(data + t->offset);
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->columns; c++) *values++ = from[place(t, r, c)];
}

void pack_put(unsigned char *data, const PackedTensor *t, const float *values)
{
    if (is_narrow_matrix(t)) {
        float *w = matrix_of(t);
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t c = 0; c < t->columns; c++) w[matrix_place(t, r, c)] = *values++;
        pack_narrow(data + t->offset, t->packed, w, NULL);
        free(w);
        return;
    }
    float *to = (float *)(void *)(data + t->offset);
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->columns; c++) to[place(t, r, c)] = *values++;
}
