/* rt_cache.h: the place of a row in a cache, and rt_store_values_as, which stores values as f32 or
 * f16. cache_f32.c and cache_f16.c call it with their format, and store keys with functions of
 * their own. See RtCache for the layouts. */
#ifndef RT_CACHE_H
#define RT_CACHE_H

#include "rt_tile.h"

/* The place of row r in the cache: its position; in a ring, modulo the capacity. */
RT_INLINE size_t rt_cache_place(const RtCache *shape, const int *positions, int r, int ring)
{
    return (size_t)(ring ? positions[r] % shape->capacity : positions[r]);
}

/* Padding columns of the last panel become zeros. */
RT_INLINE void rt_store_values_as(const RtCache *shape, void *cache, const float *x, const int *positions, int rows, int begin,
                                  int end, int ring, const RtFormat format)
{
    const int width = shape->width;
    const size_t sixteen = (size_t)rt_row_floats(format), panel = sixteen * (size_t)shape->capacity;
    const size_t head = (size_t)((width + 15) / 16) * panel;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *value = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * (size_t)width;
            float *row = (float *)cache + (size_t)h * head + sixteen * rt_cache_place(shape, positions, r, ring);
            for (int i = 0; i < width; i += 16, row += panel)
                rt_store_as(row, rt_load_n(value + i, rt_lanes_at(width, i)), format);
        }
}

#endif
