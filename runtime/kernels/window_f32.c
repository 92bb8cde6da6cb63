/* window_f32.c: sliding-window attention over f32 ring buffers. */
#include "rt_window.h"
#include "kernels.h"

RT_KERNEL void rt_window_attention_f32(const RtWindow *shape, float *out, const float *q, const float *k, const float *v,
                                       float *scratch, const RtAttentionExtra *extra, const int *visible, int rows,
                                       int begin, int end)
{
    rt_window_of(shape, out, q, k, v, scratch, extra, visible, rows, begin, end, RT_F32);
}
