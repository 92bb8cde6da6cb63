/* cache_f32.c: put rows of keys and values where attention reads them as panels. Row r goes to positions[r]; heads
 * begin..end. x rows are [heads * width]. See RtCache for the layouts. */
#include "../rt_simd.h"
#include "../kernels.h"

/* A key is a column of its panel: each of its numbers goes into another line of sixteen. */
RT_KERNEL void rt_store_k_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    const size_t width = (size_t)shape->width, head = width * (size_t)shape->capacity;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *restrict key = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * width;
            const size_t position = (size_t)positions[r];
            float *restrict column = cache + (size_t)h * head + position / 16 * 16 * width + position % 16;
            for (size_t i = 0; i < width; i++)
                column[16 * i] = key[i];
        }
}

/* Padding columns of the last panel become zeros. */
RT_KERNEL void rt_store_v_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    const int width = shape->width;
    const size_t panel = 16 * (size_t)shape->capacity, head = (size_t)((width + 15) / 16) * panel;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *value = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * (size_t)width;
            float *row = cache + (size_t)h * head + 16 * (size_t)positions[r];
            for (int i = 0; i < width; i += 16, row += panel)
                rt_store(row, rt_load_n(value + i, rt_lanes_at(width, i)));
        }
}
