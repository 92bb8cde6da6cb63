/* cache_f16.c: store rows of keys and values as f16, in the panels that attention reads. Row r goes
 * to positions[r], or in a ring to positions[r] % capacity. Only heads begin..end are stored. Rows
 * of x are [heads * width]. See RtCache for the layouts, rt_simd_f16.h for the rounding. */
#include "rt_cache.h"
#include "kernels.h"

/* A key is a column of its panel, so its numbers are sixteen apart. */
RT_INLINE void rt_store_keys_f16(const RtCache *shape, rt_f16 *cache, const float *x, const int *positions, int rows, int begin,
                                 int end, int ring)
{
    const int width = shape->width;
    const size_t head = (size_t)width * (size_t)shape->capacity;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *key = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * (size_t)width;
            const size_t place = rt_cache_place(shape, positions, r, ring);
            rt_f16 *column = cache + (size_t)h * head + place / 16 * 16 * (size_t)width + place % 16, rounded[16];
            for (int i = 0; i < width; i += 16) {
                const int n = rt_lanes_at(width, i);
                rt_store_f16(rounded, rt_load_n(key + i, n));
                for (int k = 0; k < n; k++) column[16 * (size_t)(i + k)] = rounded[k];
            }
        }
}

RT_KERNEL void rt_store_k_f16(const RtCache *shape, rt_f16 *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    rt_store_keys_f16(shape, cache, x, positions, rows, begin, end, 0);
}

RT_KERNEL void rt_store_v_f16(const RtCache *shape, rt_f16 *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    rt_store_values_as(shape, cache, x, positions, rows, begin, end, 0, RT_F16);
}

RT_KERNEL void rt_ring_store_k_f16(const RtCache *shape, rt_f16 *cache, const float *x, const int *positions, int rows,
                                   int begin, int end)
{
    rt_store_keys_f16(shape, cache, x, positions, rows, begin, end, 1);
}

RT_KERNEL void rt_ring_store_v_f16(const RtCache *shape, rt_f16 *cache, const float *x, const int *positions, int rows,
                                   int begin, int end)
{
    rt_store_values_as(shape, cache, x, positions, rows, begin, end, 1, RT_F16);
}
