/* embed_f32.c: rows of a table, by token or by position. The caller has checked ids and positions.
 * Padding columns of y become zeros. In rt_position_f32, x has the stride of y and may be y. */
#include "rt_simd.h"
#include "kernels.h"

RT_KERNEL void rt_embed_f32(const RtEmbed *shape, float *y, const void *table, const int *ids, int rows)
{
    const int width = shape->width, padded = (width + 15) & ~15;
    const rt_v16 scale = rt_set1(shape->scale);
    for (int r = 0; r < rows; r++, y += shape->y_stride) {
        const float *row = (const float *)table + (size_t)ids[r] * (size_t)padded;
        for (int i = 0; i < width; i += 16)
            rt_store(y + i, rt_keep_n(rt_mul(scale, rt_load(row + i)), rt_lanes_at(width, i)));
    }
}

/* y[r] = x[r] + scale * table[positions[r]] */
RT_KERNEL void rt_position_f32(const RtEmbed *shape, float *y, const float *x, const void *table,
                               const int *positions, int rows)
{
    const int width = shape->width, padded = (width + 15) & ~15;
    const rt_v16 scale = rt_set1(shape->scale);
    for (int r = 0; r < rows; r++, x += shape->y_stride, y += shape->y_stride) {
        const float *row = (const float *)table + (size_t)positions[r] * (size_t)padded;
        for (int i = 0; i < width; i += 16) {
            const int n = rt_lanes_at(width, i);
            rt_store(y + i, rt_keep_n(rt_fma(scale, rt_load(row + i), rt_load_n(x + i, n)), n));
        }
    }
}
