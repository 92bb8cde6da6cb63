/* pack_edit.c: single tensors of packed data, out and in; the layouts are those of formats.def. */
#include "pack_parts.h"

#include <string.h>

static const char *name_of(Arena *a, const PackEntry *e, int part)
{
    const Packed *k = e->packed;
    const Tensor *t = k->tensor[part];
    return k->layers ? tensor_layer_name(a, t, k->block->block->layer[e->layer_index]) : t->name;
}

bool pack_find(Arena *a, const Plan *p, const char *name, PackedTensor *out)
{
    int n;
    const PackEntry *e = pack_entries(a, p, &n);
    for (int i = 0; i < n; i++)
        for (int part = 0; part < 2; part++) {
            const Tensor *t = e[i].packed->tensor[part];
            if (!t || e[i].packed->format == FORMAT_TABLE_I32 || e[i].packed->format == FORMAT_DISTANCE_F32) continue;
            if (strcmp(name_of(a, &e[i], part), name) != 0) continue;
            *out = (PackedTensor){ e[i].packed, part, e[i].offset, t->rank > 1 ? t->dim[0].bound : 1, t->dim[t->rank - 1].bound };
            return true;
        }
    return false;
}

/* Where number (row, column) lies, in floats from the tensor's start. */
static size_t place(const PackedTensor *t, int64_t row, int64_t column)
{
    const Packed *k = t->packed;
    const int64_t biased = k->format == FORMAT_PANELS_F32 && k->tensor[1] ? 1 : 0;
    switch (k->format) {
    case FORMAT_PANELS_F32:
        if (t->part) return (size_t)(column / 16 * k->shape[1] * 16 + column % 16);         /* biases first */
        return (size_t)(row / 16 * k->shape[1] * 16 + (column + biased) * 16 + row % 16);
    case FORMAT_VECTORS_F32: return (size_t)(t->part * k->shape[1] + column);
    default:                 return (size_t)(row * k->shape[1] + column);
    }
}

void pack_get(const unsigned char *data, const PackedTensor *t, float *values)
{
    const float *from = (const float *)(const void *)(data + t->offset);
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->columns; c++) *values++ = from[place(t, r, c)];
}

void pack_put(unsigned char *data, const PackedTensor *t, const float *values)
{
    float *to = (float *)(void *)(data + t->offset);
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->columns; c++) to[place(t, r, c)] = *values++;
}
