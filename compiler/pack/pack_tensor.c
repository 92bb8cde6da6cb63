/* pack_tensor.c: pack one tensor: as f32 panels, tables or vectors, as integers, or as narrow
 * panels with the functions of their format. */
#include "pack_parts.h"

#include <stdlib.h>
#include <string.h>

#include "weights.h"

static float *read_tensor(const TensorSource *s)
{
    float *v = malloc((size_t)tensor_elements(s) * sizeof *v + 1);
    if (!v) no_memory("the %lld numbers of %s", (long long)tensor_elements(s), s->name);
    tensor_read(s, v);
    return v;
}

/* out: [panels][has_bias + in][16]; what follows the last output in its panel stays zero. TOGETHER
 * inputs of sixteen outputs are copied at a time, so that they stay in the L1 cache. */
static void pack_panels(float *out, const Packed *k, const float *w, const float *bias)
{
    enum { TOGETHER = 64 };
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    for (int64_t first = 0; first < outputs; first += 16) {
        const int64_t n = outputs - first < 16 ? outputs - first : 16;
        float *panel = out + first / 16 * k->shape[1] * 16;
        if (bias) {
            memcpy(panel, bias + first, (size_t)n * sizeof *panel);
            panel += 16;
        }
        for (int64_t at = 0; at < in; at += TOGETHER)
            for (int64_t o = 0; o < n; o++)
                for (int64_t i = at; i < at + TOGETHER && i < in; i++)
                    panel[16 * i + o] = w[(first + o) * in + i];
    }
}

static void pack_rows(float *out, const float *w, int64_t rows, int64_t width, int64_t stride)
{
    for (int64_t r = 0; r < rows; r++) memcpy(out + r * stride, w + r * width, (size_t)width * sizeof *out);
}

void pack_tensor(unsigned char *out, const PackEntry *e)
{
    const Packed *k = e->packed;
    if (k->format == FORMAT_TABLE_I32) {
        memcpy(out, k->integers, (size_t)k->integer_count * sizeof *k->integers);
        return;
    }
    const TensorSource *source = k->tensor[0]->source[e->layer_index];
    const bool grouped = format_is_quantised(k->format) && tensor_block_bits(source) == format_bits(k->format);
    float *w = grouped ? NULL : read_tensor(source);
    float *second = k->tensor[1] ? read_tensor(k->tensor[1]->source[e->layer_index]) : NULL;
    int64_t width = k->tensor[0]->dim[k->tensor[0]->rank - 1].bound;
    switch (k->format) {
    case FORMAT_PANELS_F32: pack_panels((float *)(void *)out, k, w, second); break;
    case FORMAT_DISTANCE_F32: pack_rows((float *)(void *)out, w, 1, k->tensor[0]->dim[0].bound * width, k->shape[0]); break;
    case FORMAT_TABLE_F32:  pack_rows((float *)(void *)out, w, k->shape[0], width, k->shape[1]); break;
    case FORMAT_VECTORS_F32:
        pack_rows((float *)(void *)out, w, 1, width, k->shape[1]);
        if (second) pack_rows((float *)(void *)out + k->shape[1], second, 1, width, k->shape[1]);
        break;
    default:
        pack_narrow(out, k, w, source);
        if (second) pack_biases(out, k, second);
    }
    free(w);
    free(second);
}
