/* window_f16.c: sliding-window attention over ring buffers of f16 numbers, which are widened to f32
 * as they are read. */
#include "rt_window.h"
#include "kernels.h"

RT_KERNEL void rt_window_attention_f16(const RtWindow *shape, float *out, const float *q, const rt_f16 *k, const rt_f16 *v,
                                       float *scratch, const RtAttentionExtra *extra, const int *visible, int rows,
                                       int begin, int end)
{
    rt_window_of(shape, out, q, k, v, scratch, extra, visible, rows, begin, end, RT_F16);
}
