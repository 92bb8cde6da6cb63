/* linear_bf16.c: the functions of linear_f32.c for bf16 weights, bit-identical to the f32 kernels
 * with the same weights; and embeddings from such a matrix. */
#include "rt_linear.h"
#include "kernels.h"

RT_KERNEL void rt_linear_bf16(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    rt_linear_as(shape, y, x, w, rows, begin, end, RT_BF16);
}

RT_KERNEL void rt_linear_gate_bf16(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    rt_linear_gate_as(shape, y, x, w, rows, begin, end, RT_BF16);
}

RT_KERNEL void rt_linear_add_bf16(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, int rows, int begin, int end)
{
    rt_linear_add_as(shape, y, x, w, a, rows, begin, end, RT_BF16);
}

/* Rows of a matrix that is stored in panels without biases, as floats. */
RT_KERNEL void rt_embed_bf16(const RtEmbed *shape, float *y, const void *table, const int *ids, int rows)
{
    const int width = shape->width, padded = (width + 15) & ~15;
    const size_t panel_bytes = rt_panel_bytes(width, 0, 16);
    for (int r = 0; r < rows; r++, y += shape->y_stride) {
        const uint8_t *lane = (const uint8_t *)table + (size_t)(ids[r] / 16) * panel_bytes + 4 * (size_t)(ids[r] % 16);
        for (int i = 0; i < padded; i++) {
            uint16_t half = 0;
            float weight;
            if (i < width) memcpy(&half, lane + 64 * (size_t)(i / 2) + 2 * (size_t)(i % 2), sizeof half);
            const uint32_t bits = (uint32_t)half << 16;
            memcpy(&weight, &bits, sizeof weight);
            y[i] = i < width ? shape->scale * weight : 0;
        }
    }
}
