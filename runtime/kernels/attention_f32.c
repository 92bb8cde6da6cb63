/* attention_f32.c: attention over f32 keys and values. */
#include "rt_attention.h"
#include "kernels.h"

RT_KERNEL void rt_attention_f32(const RtAttention *shape, float *out, const float *q, const float *k, const float *v,
                                float *scratch, const RtAttentionExtra *extra, const int *visible, int rows, int begin,
                                int end)
{
    rt_attention_of(shape, out, q, k, v, scratch, extra, visible, rows, begin, end, RT_F32);
}
