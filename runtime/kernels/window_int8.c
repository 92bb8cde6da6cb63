/* window_int8.c: sliding-window attention over ring buffers of int8 numbers, which are widened to
 * f32 as they are read. */
#include "rt_window.h"
#include "kernels.h"

RT_KERNEL void rt_window_attention_int8(const RtWindow *shape, float *out, const float *q, const int8_t *k, const int8_t *v,
                                        float *scratch, const RtAttentionExtra *extra, const int *visible, int rows,
                                        int begin, int end)
{
    rt_window_of(shape, out, q, k, v, scratch, extra, visible, rows, begin, end, RT_INT8);
}
