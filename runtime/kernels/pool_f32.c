/* pool_f32.c: reduce the rows of a source to one vector: parts of `width` columns side by side,
 * each the first row, the last row, the maximum of each column, or a weighted sum. Rows are added
 * in order. Padding columns of y become zeros. */
#include "rt_simd.h"
#include "kernels.h"

/* The factor of a sum over `rows` rows; WEIGHTED has given the rows weights 1, 2, 3, ... */
static inline float rt_pool_factor(RtPoolKind kind, int rows)
{
    if (kind == RT_POOL_MEAN) return 1 / (float)rows;
    if (kind == RT_POOL_MEAN_SQRT) return 1 / sqrtf((float)rows);
    return 1 / (0.5f * (float)rows * (float)(rows + 1));
}

/* n columns of one part. */
static inline rt_v16 rt_pool_columns(RtPoolKind kind, const float *x, size_t stride, int rows, int n)
{
    rt_v16 v = rt_load_n(kind == RT_POOL_LAST ? x + (size_t)(rows - 1) * stride : x, n);
    if (kind == RT_POOL_FIRST || kind == RT_POOL_LAST) return v;
    for (int r = 1; r < rows; r++) {
        const rt_v16 next = rt_load_n(x + (size_t)r * stride, n);
        if (kind == RT_POOL_MAX) v = rt_max(v, next);
        else if (kind == RT_POOL_WEIGHTED) v = rt_fma(rt_set1((float)(r + 1)), next, v);
        else v = rt_add(v, next);
    }
    return kind == RT_POOL_MAX ? v : rt_mul(rt_set1(rt_pool_factor(kind, rows)), v);
}

/* rows: the rows of y, always 1. */
RT_KERNEL void rt_pool_f32(const RtPool *shape, float *y, const float *x, const int *visible, int rows)
{
    const int width = shape->width, used = shape->parts * width;
    for (int p = 0; p < shape->parts && rows == 1; p++)
        for (int i = 0; i < width; i += 16) {
            const int n = rt_lanes_at(width, i);
            rt_store_n(y + p * width + i, rt_pool_columns(shape->kind[p], x + i, (size_t)shape->x_stride, visible[0], n), n);
        }
    rt_store_n(y + used, rt_set1(0), -used & 15);
}
