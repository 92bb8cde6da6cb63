/* attention_int8.c: attention over int8 keys and values, which are widened to f32 as they are
 * read. */
#include "rt_attention.h"
#include "kernels.h"

RT_KERNEL void rt_attention_int8(const RtAttention *shape, float *out, const float *q, const int8_t *k, const int8_t *v,
                                 float *scratch, const RtAttentionExtra *extra, const int *visible, int rows, int begin,
                                 int end)
{
    rt_attention_of(shape, out, q, k, v, scratch, extra, visible, rows, begin, end, RT_INT8);
}
