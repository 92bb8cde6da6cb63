/* cache_int8.c: store rows of keys and values as int8, in the panels that attention reads. Row r
 * goes to positions[r], or in a ring to positions[r] % capacity. Only heads begin..end are stored.
 * Rows of x are [heads * width]. See RtCache for the layouts.
 *
 * Keys are rotated first (see rt_plain_rotate): a key often has a few numbers that are much larger
 * than the others, which would be left with few bits. Rotating the values too brought no gain.
 *
 * The numbers of a head are divided by a scale, their largest absolute value over 127, and rounded
 * to the nearest integers, ties to even. If one is infinite or NaN, the scale is NaN. */
#include "rt_cache.h"
#include "rt_scales.h"
#include "rt_simd_int8.h"
#include "kernels.h"

/* The largest absolute value of n numbers; infinity if one is infinite, NaN if one is NaN. */
RT_INLINE float rt_largest_of(const float *x, int n)
{
    uint32_t most = 0;
    float size;
    for (int i = 0; i < n; i += 16) {
        uint32_t bits;
        size = rt_largest_size(rt_load_n(x + i, rt_lanes_at(n, i)), rt_set1(0));
        memcpy(&bits, &size, sizeof bits);
        most = bits > most ? bits : most;
    }
    memcpy(&size, &most, sizeof size);
    return size;
}

/* A key is a column of its panel, so its numbers are sixteen apart. */
RT_INLINE void rt_store_keys_int8(const RtCache *shape, int8_t *cache, const float *x, const int *positions, int rows, int begin,
                                  int end, int ring)
{
    const int width = shape->width;
    const size_t panel = sizeof(float) * rt_key_floats(width, RT_INT8), head = (size_t)shape->capacity / 16 * panel;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *key = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * (size_t)width;
            const size_t place = rt_cache_place(shape, positions, r, ring);
            int8_t *column = cache + (size_t)h * head + place / 16 * panel + place % 16;
            const float scale = rt_plain_int8_key(column, key, width);
            memcpy(column + 16 * (size_t)width + 3 * (place % 16), &scale, sizeof scale);
        }
}

/* Padding columns of the last panel become zeros. */
RT_INLINE void rt_store_values_int8(const RtCache *shape, int8_t *cache, const float *x, const int *positions, int rows, int begin,
                                    int end, int ring)
{
    const int width = shape->width;
    const size_t panel = 16 * (size_t)shape->capacity;
    const size_t head = sizeof(float) * rt_value_floats(width, shape->capacity, RT_INT8);
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *value = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * (size_t)width;
            const size_t place = rt_cache_place(shape, positions, r, ring);
            int8_t *bytes = cache + (size_t)h * head;
            const float most = rt_largest_of(value, width), scale = rt_plain_scale_of(most);
            const rt_v16 factor = rt_set1(127 / most);
            for (int i = 0; i < width; i += 16, bytes += panel)
                rt_store_nearest(bytes + 16 * place, rt_mul(rt_load_n(value + i, rt_lanes_at(width, i)), factor));
            memcpy(bytes + sizeof scale * place, &scale, sizeof scale);
        }
}

RT_KERNEL void rt_store_k_int8(const RtCache *shape, int8_t *cache, const float *x, const int *positions, int rows,
                               int begin, int end)
{
    rt_store_keys_int8(shape, cache, x, positions, rows, begin, end, 0);
}

RT_KERNEL void rt_store_v_int8(const RtCache *shape, int8_t *cache, const float *x, const int *positions, int rows,
                               int begin, int end)
{
    rt_store_values_int8(shape, cache, x, positions, rows, begin, end, 0);
}

RT_KERNEL void rt_ring_store_k_int8(const RtCache *shape, int8_t *cache, const float *x, const int *positions, int rows,
                                    int begin, int end)
{
    rt_store_keys_int8(shape, cache, x, positions, rows, begin, end, 1);
}

RT_KERNEL void rt_ring_store_v_int8(const RtCache *shape, int8_t *cache, const float *x, const int *positions, int rows,
                                    int begin, int end)
{
    rt_store_values_int8(shape, cache, x, positions, rows, begin, end, 1);
}
