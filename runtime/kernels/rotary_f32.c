/* rotary_f32.c: rotary positions (RoPE): in heads begin..end of every row, rotate pairs of columns
 * by angles that depend on the row's position. The caller has checked the positions. Nothing
 * outside these heads is written. y may be x.
 * Products are rounded before they are added, as in the frameworks that models come from. */
#include "rt_simd.h"
#include "kernels.h"

/* Columns i and i + half are a pair. */
static inline void rt_rotary_halves(float *y, const float *x, const float *angle, int half)
{
    for (int i = 0; i < half; i += 16) {
        const int n = rt_lanes_at(half, i);
        const rt_v16 c = rt_load_n(angle + i, n), s = rt_load_n(angle + half + i, n);
        const rt_v16 a = rt_load_n(x + i, n), b = rt_load_n(x + half + i, n);
        rt_store_n(y + i, rt_sub(rt_mul(a, c), rt_mul(b, s)), n);
        rt_store_n(y + half + i, rt_add(rt_mul(b, c), rt_mul(a, s)), n);
    }
}

/* Columns 2i and 2i + 1 are a pair. */
static inline void rt_rotary_pairs(float *y, const float *x, const float *angle, int half)
{
    for (int i = 0; i < half; i++) {
        const float c = angle[i], s = angle[half + i], a = x[2 * i], b = x[2 * i + 1];
        y[2 * i] = a * c - b * s;
        y[2 * i + 1] = b * c + a * s;
    }
}

RT_KERNEL void rt_rotary_f32(const RtRotary *shape, float *y, const float *x, const void *table, const int *positions,
                             int rows, int begin, int end)
{
    const int half = shape->dims / 2;
    const size_t padded = (size_t)((shape->dims + 15) & ~15);
    for (int r = 0; r < rows; r++, x += shape->x_stride, y += shape->y_stride) {
        const float *angle = (const float *)table + (size_t)positions[r] * padded;
        for (int h = begin; h < end; h++) {
            const float *from = x + (size_t)h * (size_t)shape->width;
            float *to = y + (size_t)h * (size_t)shape->width;
            if (shape->interleaved) rt_rotary_pairs(to, from, angle, half);
            else rt_rotary_halves(to, from, angle, half);
            for (int i = shape->dims; i < shape->width; i++)
                to[i] = from[i];
        }
    }
}
