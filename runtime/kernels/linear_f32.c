/* linear_f32.c: linears over panels of sixteen outputs: y = activation(W x + b), the gated
 * y = activation(G x + b) * (U x + c), and y = a + activation(W x + b). */
#include "rt_linear.h"
#include "kernels.h"

RT_KERNEL void rt_linear_f32(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    rt_linear_as(shape, y, x, w, rows, begin, end, RT_F32);
}

RT_KERNEL void rt_linear_gate_f32(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    rt_linear_gate_as(shape, y, x, w, rows, begin, end, RT_F32);
}

RT_KERNEL void rt_linear_add_f32(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, int rows, int begin, int end)
{
    rt_linear_add_as(shape, y, x, w, a, rows, begin, end, RT_F32);
}
