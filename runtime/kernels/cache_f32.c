/* cache_f32.c: store rows of keys and values in the panels that attention reads. Row r goes to
 * positions[r], or in a ring to positions[r] % capacity. Only heads begin..end are stored. Rows of
 * x are [heads * width]. See RtCache for the layouts. */
#include "rt_cache.h"
#include "kernels.h"

/* A key is a column of its panel, so its numbers are sixteen apart. */
RT_INLINE void rt_store_keys(const RtCache *shape, float *cache, const float *x, const int *positions, int rows, int begin,
                             int end, int ring)
{
    const size_t width = (size_t)shape->width, head = width * (size_t)shape->capacity;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *restrict key = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * width;
            const size_t place = rt_cache_place(shape, positions, r, ring);
            float *restrict column = cache + (size_t)h * head + place / 16 * 16 * width + place % 16;
            for (size_t i = 0; i < width; i++)
                column[16 * i] = key[i];
        }
}

RT_KERNEL void rt_store_k_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    rt_store_keys(shape, cache, x, positions, rows, begin, end, 0);
}

RT_KERNEL void rt_store_v_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    rt_store_values_as(shape, cache, x, positions, rows, begin, end, 0, RT_F32);
}

RT_KERNEL void rt_ring_store_k_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                                   int begin, int end)
{
    rt_store_keys(shape, cache, x, positions, rows, begin, end, 1);
}

RT_KERNEL void rt_ring_store_v_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                                   int begin, int end)
{
    rt_store_values_as(shape, cache, x, positions, rows, begin, end, 1, RT_F32);
}
