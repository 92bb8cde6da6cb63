/* encoder_kernels.h: the operations of encoder.c.
 * The library's kernels as static functions, then one function per distinct shape, whose
 * constants let the compiler unroll loops and fold expressions. The text is the same for every
 * instruction set; the compiler's flags choose one. */
#ifndef ENCODER_KERNELS_H
#define ENCODER_KERNELS_H

#define RT_KERNEL RT_INLINE
#define RT_KERNELS_H            /* leave out kernels.h: its prototypes have external linkage */
#include "rt_simd.h"
#include "embed_f32.c"
#include "norm_f32.c"
#include "linear_f32.c"
#include "cache_f32.c"
#include "attention_f32.c"
#include "element_f32.c"

#include "encoder.h"

/* ---- the shapes of this model ---------------------------------------------------------------- */

/* y = scale * table[id]    y [.., 128] */
static inline void embed_128_rows(float *y, const void *table, const int *ids, rt_span rows)
{
    static const RtEmbed shape = { .width = 128, .y_stride = 128, .scale = 1.0f };
    rt_embed_f32(&shape, y + 128 * rows.begin, table, ids + rows.begin, rt_count(rows));
}

/* y = x + table[position]    x, y [.., 128] */
static inline void position_128_rows(float *y, const float *x, const void *table,
                                     const int *positions, rt_span rows)
{
    static const RtEmbed shape = { .width = 128, .y_stride = 128, .scale = 1.0f };
    rt_position_f32(&shape, y + 128 * rows.begin, x + 128 * rows.begin, table,
                    positions + rows.begin, rt_count(rows));
}

/* y = gain * (x - mean) / sqrt(variance + eps) + bias    x, y [.., 128] */
static inline void norm_128_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtNorm shape = { .heads = 1, .width = 128, .x_stride = 128, .y_stride = 128,
                                  .kind = RT_NORM_LAYER, .eps = 1e-12f };
    rt_norm_f32(&shape, y + 128 * rows.begin, x + 128 * rows.begin, w, rt_count(rows));
}

/* y = x W^T + b    x [.., 128]  W [384, 128]  y [.., 384] */
static inline void linear_128x384_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 128, .out = 384, .x_stride = 128, .y_stride = 384,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y + 384 * rows.begin, x + 128 * rows.begin, w, rt_count(rows), 0, 24);
}

/* cache[head][position / 16][.. 32][position % 16] = x    x [.., 4, 32] */
static inline void store_keys_4x32_128_rows(float *cache, const float *x, const int *positions,
                                            rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 32, .capacity = 128, .x_stride = 384 };
    rt_store_k_f32(&shape, cache, x + 384 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* cache[head][.. 32 / 16][position][16] = x    x [.., 4, 32] */
static inline void store_values_4x32_128_rows(float *cache, const float *x, const int *positions,
                                              rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 32, .capacity = 128, .x_stride = 384 };
    rt_store_v_f32(&shape, cache, x + 384 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* out = softmax(q k^T * 0.176776695) v, over the first visible[row] positions
 * q [.., 4, 32]  k [4][8][32][16]  v [4][2][128][16]  out [.., 4, 32] */
static inline void attention_4x32_128_rows(float *out, const float *q, const float *k,
                                           const float *v, float *scratch, const int *visible,
                                           rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 32, .d_v = 32,
                                       .capacity = 128, .q_stride = 384, .out_stride = 128,
                                       .scale = 0.176776695f };
    rt_attention_f32(&shape, out + 128 * rows.begin, q + 384 * rows.begin, k, v, scratch, NULL,
                     visible + rows.begin, rt_count(rows), 0, 4);
}

/* y = a + x W^T + b    x [.., 128]  W [128, 128]  y [.., 128] */
static inline void linear_128x128_add_rows(float *y, const float *x, const void *w, const float *a,
                                           rt_span rows)
{
    static const RtLinear shape = { .in = 128, .out = 128, .x_stride = 128, .y_stride = 128,
                                    .has_bias = 1 };
    rt_linear_add_f32(&shape, y + 128 * rows.begin, x + 128 * rows.begin, w, a + 128 * rows.begin,
                      rt_count(rows), 0, 8);
}

/* y = gelu(x W^T + b)    x [.., 128]  W [512, 128]  y [.., 512] */
static inline void linear_128x512_gelu_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 128, .out = 512, .x_stride = 128, .y_stride = 528,
                                    .has_bias = 1, .activation = RT_GELU };
    rt_linear_f32(&shape, y + 528 * rows.begin, x + 128 * rows.begin, w, rt_count(rows), 0, 32);
}

/* y = a + x W^T + b    x [.., 512]  W [128, 512]  y [.., 128] */
static inline void linear_512x128_add_rows(float *y, const float *x, const void *w, const float *a,
                                           rt_span rows)
{
    static const RtLinear shape = { .in = 512, .out = 128, .x_stride = 528, .y_stride = 128,
                                    .has_bias = 1 };
    rt_linear_add_f32(&shape, y + 128 * rows.begin, x + 528 * rows.begin, w, a + 128 * rows.begin,
                      rt_count(rows), 0, 8);
}

/* y = a    [.., 128] */
static inline void copy_128_rows(float *y, const float *a, rt_span rows)
{
    static const RtElement shape = { .width = 128, .a_stride = 128, .b_stride = 0,
                                     .y_stride = 128 };
    rt_activation_f32(&shape, y + 128 * rows.begin, a + 128 * rows.begin, rt_count(rows), 0, 8);
}

#endif
