/* unpack_rows.c: copy rows of packed matrices as dense f32. The generic engine, if it has packed
 * data, takes its matrices from there instead of reading and rounding the weights again. */
#include "pack_parts.h"

#include <string.h>

#include "weights.h"

static bool same_shape(int rank, const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, (size_t)rank * sizeof *a) == 0;
}

static bool same_place(const TensorSource *a, const TensorSource *b)
{
    return a->file == b->file && a->offset == b->offset && a->values == b->values &&
           a->start == b->start && a->skip == b->skip;
}

static bool same_numbers(const TensorSource *a, const TensorSource *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || strcmp(a->name, b->name) != 0) return false;
    if (a->rank != b->rank || a->view_rank != b->view_rank) return false;
    return same_shape(a->rank, a->shape, b->shape) && same_shape(a->rank, a->stride, b->stride) &&
           same_shape(a->view_rank, a->view_shape, b->view_shape) &&
           same_shape(a->view_rank, a->view_stride, b->view_stride) && same_place(a, b) &&
           a->seed == b->seed && a->plus - b->plus == 0 && same_numbers(a->added, b->added);
}

/* The packed panels of the matrix with this source; NULL if there are none. */
static const Packed *panels_of(const Plan *p, const TensorSource *source, int layer)
{
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *k = p->packed[i];
        const bool panels = k->format == FORMAT_PANELS_F32 || format_is_narrow(k->format);
        const bool there = panels && layer < (k->layers ? k->layers : 1);
        if (there && same_numbers(k->tensor[0]->source[layer], source)) return k;
    }
    return NULL;
}

/* w: [outputs][in]. TOGETHER inputs of sixteen outputs are copied at a time, so that they stay in
 * the L1 cache. */
static void unpack_panels(const float *from, const Packed *k, float *w)
{
    enum { TOGETHER = 64 };
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    for (int64_t first = 0; first < outputs; first += 16) {
        const int64_t n = outputs - first < 16 ? outputs - first : 16;
        const float *panel = from + first / 16 * k->shape[1] * 16 + (k->tensor[1] ? 16 : 0);
        for (int64_t at = 0; at < in; at += TOGETHER)
            for (int64_t o = 0; o < n; o++)
                for (int64_t i = at; i < at + TOGETHER && i < in; i++)
                    w[(first + o) * in + i] = panel[16 * i + o];
    }
}

bool unpack_rows(const PackedData *data, const TensorSource *source, int layer, int64_t first,
                 int64_t rows, float *to)
{
    const Packed *whole = panels_of(data->plan, source, layer);
    if (!whole) return false;
    if (first % 16) die("%s: row %lld does not begin a panel", whole->name, (long long)first);
    const size_t panel = whole->bytes / (size_t)whole->shape[0];
    Packed k = *whole;
    Tensor matrix = *whole->tensor[0];
    matrix.dim[0].bound = rows;
    k.tensor[0] = &matrix;
    k.shape[0] = pad16(rows) / 16;
    k.bytes = panel * (size_t)k.shape[0];
    const unsigned char *from = data->bytes + whole->offset + (size_t)layer * whole->stride +
                                (size_t)(first / 16) * panel;
    if (format_is_narrow(k.format)) unpack_narrow(from, &k, to);
    else unpack_panels((const float *)(const void *)from, &k, to);
    return true;
}
