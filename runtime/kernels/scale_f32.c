/* scale_f32.c: y = scale * x, or softcap * tanh(scale * x / softcap), on groups of 16 columns. y
 * may be x. Padding columns of y become zeros. */
#include "rt_simd.h"
#include "kernels.h"

RT_KERNEL void rt_scale_f32(const RtScale *shape, float *y, const float *x, int rows, int begin, int end)
{
    const int capped = shape->softcap > 0;
    const rt_v16 cap = rt_set1(shape->softcap), factor = rt_set1(capped ? shape->scale / shape->softcap : shape->scale);
    for (int r = 0; r < rows; r++, x += shape->x_stride, y += shape->y_stride)
        for (int g = begin; g < end; g++) {
            const int i = 16 * g, n = rt_lanes_at(shape->width, i);
            rt_v16 v = rt_mul(factor, rt_load_n(x + i, n));
            if (capped) v = rt_mul(cap, rt_tanh(v));
            rt_store(y + i, rt_keep_n(v, n));
        }
}
