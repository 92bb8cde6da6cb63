/* element_f32.c: element-wise operations on the groups of sixteen columns begin..end of every row.
 * Padding columns of the last group become zeros. y may be a or b. */
#include "rt_simd.h"
#include "kernels.h"

RT_KERNEL void rt_add_f32(const RtElement *shape, float *y, const float *a, const float *b, int rows, int begin,
                          int end)
{
    for (int r = 0; r < rows; r++, a += shape->a_stride, b += shape->b_stride, y += shape->y_stride)
        for (int g = begin; g < end; g++) {
            const int i = 16 * g, n = rt_lanes_at(shape->width, i);
            rt_store(y + i, rt_add(rt_load_n(a + i, n), rt_load_n(b + i, n)));
        }
}

RT_KERNEL void rt_activation_f32(const RtElement *shape, float *y, const float *a, int rows, int begin, int end)
{
    for (int r = 0; r < rows; r++, a += shape->a_stride, y += shape->y_stride)
        for (int g = begin; g < end; g++) {
            const int i = 16 * g, n = rt_lanes_at(shape->width, i);
            rt_store(y + i, rt_keep_n(rt_activate(shape->activation, rt_load_n(a + i, n)), n));
        }
}

RT_KERNEL void rt_gate_f32(const RtElement *shape, float *y, const float *a, const float *b, int rows, int begin,
                           int end)
{
    for (int r = 0; r < rows; r++, a += shape->a_stride, b += shape->b_stride, y += shape->y_stride)
        for (int g = begin; g < end; g++) {
            const int i = 16 * g, n = rt_lanes_at(shape->width, i);
            rt_v16 gate = rt_keep_n(rt_activate(shape->activation, rt_load_n(a + i, n)), n);
            rt_store(y + i, rt_mul(gate, rt_load_n(b + i, n)));
        }
}
