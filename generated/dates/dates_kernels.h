/* dates_kernels.h: the operations of dates.c.
 * The library's kernels as static functions, then one function per distinct shape, whose
 * constants let the compiler unroll loops and fold expressions. The text is the same for every
 * instruction set; the compiler's flags choose one. */
#ifndef DATES_KERNELS_H
#define DATES_KERNELS_H

#define RT_KERNEL RT_INLINE
#define RT_KERNELS_H            /* leave out kernels.h: its prototypes have external linkage */
#include "rt_simd.h"
#include "embed_f32.c"
#include "norm_f32.c"
#include "linear_f32.c"
#include "cache_f32.c"
#include "attention_f32.c"
#include "vocabulary_f32.c"

#include "dates.h"

/* ---- the shapes of this model ---------------------------------------------------------------- */

/* y = scale * table[id]    y [.., 64] */
static inline void embed_64_rows(float *y, const void *table, const int *ids, rt_span rows)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 8.0f };
    rt_embed_f32(&shape, y + 64 * rows.begin, table, ids + rows.begin, rt_count(rows));
}

/* y = x + table[position]    x, y [.., 64] */
static inline void position_64_rows(float *y, const float *x, const void *table,
                                    const int *positions, rt_span rows)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 1.0f };
    rt_position_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, table,
                    positions + rows.begin, rt_count(rows));
}

/* y = gain * (x - mean) / (std + eps) + bias, std with divisor width - 1    x, y [.., 64] */
static inline void norm_64_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtNorm shape = { .heads = 1, .width = 64, .x_stride = 64, .y_stride = 64,
                                  .kind = RT_NORM_ANNOTATED, .eps = 1e-06f };
    rt_norm_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, w, rt_count(rows));
}

/* y = x W^T + b    x [.., 64]  W [192, 64]  y [.., 192] */
static inline void linear_64x192_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 192, .x_stride = 64, .y_stride = 192,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y + 192 * rows.begin, x + 64 * rows.begin, w, rt_count(rows), 0, 12);
}

/* cache[head][position / 16][.. 16][position % 16] = x    x [.., 4, 16] */
static inline void store_keys_4x16_80_rows(float *cache, const float *x, const int *positions,
                                           rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 192 };
    rt_store_k_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* cache[head][.. 16 / 16][position][16] = x    x [.., 4, 16] */
static inline void store_values_4x16_80_rows(float *cache, const float *x, const int *positions,
                                             rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 192 };
    rt_store_v_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* out = softmax(q k^T * 0.25) v, over the first visible[row] positions
 * q [.., 4, 16]  k [4][5][16][16]  v [4][1][80][16]  out [.., 4, 16] */
static inline void attention_4x16_80_rows(float *out, const float *q, const float *k,
                                          const float *v, float *scratch, const int *visible,
                                          rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16,
                                       .capacity = 80, .q_stride = 192, .out_stride = 64,
                                       .scale = 0.25f };
    rt_attention_f32(&shape, out + 64 * rows.begin, q + 192 * rows.begin, k, v, scratch, NULL,
                     visible + rows.begin, rt_count(rows), 0, 4);
}

/* y = a + x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_add_rows(float *y, const float *x, const void *w, const float *a,
                                         rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64,
                                    .has_bias = 1 };
    rt_linear_add_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, w, a + 64 * rows.begin,
                      rt_count(rows), 0, 4);
}

/* y = relu(x W^T + b)    x [.., 64]  W [256, 64]  y [.., 256] */
static inline void linear_64x256_relu_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 256, .x_stride = 64, .y_stride = 256,
                                    .has_bias = 1, .activation = RT_RELU };
    rt_linear_f32(&shape, y + 256 * rows.begin, x + 64 * rows.begin, w, rt_count(rows), 0, 16);
}

/* y = a + x W^T + b    x [.., 256]  W [64, 256]  y [.., 64] */
static inline void linear_256x64_add_rows(float *y, const float *x, const void *w, const float *a,
                                          rt_span rows)
{
    static const RtLinear shape = { .in = 256, .out = 64, .x_stride = 256, .y_stride = 64,
                                    .has_bias = 1 };
    rt_linear_add_f32(&shape, y + 64 * rows.begin, x + 256 * rows.begin, w, a + 64 * rows.begin,
                      rt_count(rows), 0, 4);
}

/* y = x W^T + b    x [.., 64]  W [128, 64]  y [.., 128] */
static inline void linear_64x128_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 128, .x_stride = 64, .y_stride = 128,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y + 128 * rows.begin, x + 64 * rows.begin, w, rt_count(rows), 0, 8);
}

/* cache[head][position / 16][.. 16][position % 16] = x    x [.., 4, 16] */
static inline void store_keys_4x16_80_rows_v2(float *cache, const float *x, const int *positions,
                                              rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 128 };
    rt_store_k_f32(&shape, cache, x + 128 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* cache[head][.. 16 / 16][position][16] = x    x [.., 4, 16] */
static inline void store_values_4x16_80_rows_v2(float *cache, const float *x, const int *positions,
                                                rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 128 };
    rt_store_v_f32(&shape, cache, x + 128 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* y = scale * table[id]    y [.., 64] */
static inline void embed_64(float *y, const void *table, const int *ids)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 8.0f };
    rt_embed_f32(&shape, y, table, ids, 1);
}

/* y = x + table[position]    x, y [.., 64] */
static inline void position_64(float *y, const float *x, const void *table, const int *positions)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 1.0f };
    rt_position_f32(&shape, y, x, table, positions, 1);
}

/* y = gain * (x - mean) / (std + eps) + bias, std with divisor width - 1    x, y [.., 64] */
static inline void norm_64(float *y, const float *x, const void *w)
{
    static const RtNorm shape = { .heads = 1, .width = 64, .x_stride = 64, .y_stride = 64,
                                  .kind = RT_NORM_ANNOTATED, .eps = 1e-06f };
    rt_norm_f32(&shape, y, x, w, 1);
}

/* y = x W^T + b    x [.., 64]  W [192, 64]  y [.., 192] */
static inline void linear_64x192(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 192, .x_stride = 64, .y_stride = 192,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* cache[head][position / 16][.. 16][position % 16] = x    x [.., 4, 16] */
static inline void store_keys_4x16_16(float *cache, const float *x, const int *positions,
                                      rt_span heads)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_k_f32(&shape, cache, x, positions, 1, heads.begin, heads.end);
}

/* cache[head][.. 16 / 16][position][16] = x    x [.., 4, 16] */
static inline void store_values_4x16_16(float *cache, const float *x, const int *positions,
                                        rt_span heads)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_v_f32(&shape, cache, x, positions, 1, heads.begin, heads.end);
}

/* out = softmax(q k^T * 0.25) v, over the first visible[row] positions
 * q [.., 4, 16]  k [4][1][16][16]  v [4][1][16][16]  out [.., 4, 16] */
static inline void attention_4x16_16(float *out, const float *q, const float *k, const float *v,
                                     float *scratch, const int *visible, rt_span heads)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16,
                                       .capacity = 16, .q_stride = 192, .out_stride = 64,
                                       .scale = 0.25f };
    rt_attention_f32(&shape, out, q, k, v, scratch, NULL, visible, 1, heads.begin, heads.end);
}

/* y = a + x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_add(float *y, const float *x, const void *w, const float *a,
                                    rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64,
                                    .has_bias = 1 };
    rt_linear_add_f32(&shape, y, x, w, a, 1, panels.begin, panels.end);
}

/* y = x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* out = softmax(q k^T * 0.25) v, over the first visible[row] positions
 * q [.., 4, 16]  k [4][5][16][16]  v [4][1][80][16]  out [.., 4, 16] */
static inline void attention_4x16_80(float *out, const float *q, const float *k, const float *v,
                                     float *scratch, const int *visible, rt_span heads)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16,
                                       .capacity = 80, .q_stride = 64, .out_stride = 64,
                                       .scale = 0.25f };
    rt_attention_f32(&shape, out, q, k, v, scratch, NULL, visible, 1, heads.begin, heads.end);
}

/* y = relu(x W^T + b)    x [.., 64]  W [256, 64]  y [.., 256] */
static inline void linear_64x256_relu(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 256, .x_stride = 64, .y_stride = 256,
                                    .has_bias = 1, .activation = RT_RELU };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* y = a + x W^T + b    x [.., 256]  W [64, 256]  y [.., 64] */
static inline void linear_256x64_add(float *y, const float *x, const void *w, const float *a,
                                     rt_span panels)
{
    static const RtLinear shape = { .in = 256, .out = 64, .x_stride = 256, .y_stride = 64,
                                    .has_bias = 1 };
    rt_linear_add_f32(&shape, y, x, w, a, 1, panels.begin, panels.end);
}

/* y = x W^T + b    x [.., 64]  W [15, 64]  y [.., 15] */
static inline void linear_64x15(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 15, .x_stride = 64, .y_stride = 16,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* y = x - log(sum(exp(x)))    [.., 15] */
static inline void log_softmax_15(float *y, const float *x)
{
    static const RtVocabulary shape = { .size = 15, .x_stride = 16, .y_stride = 16 };
    rt_log_softmax_f32(&shape, y, x, 1);
}

/* y = index of the first maximum of x, or -1 if x contains NaN or +inf    x [.., 15]  y [..] */
static inline void argmax_15(int *y, const float *x)
{
    static const RtVocabulary shape = { .size = 15, .x_stride = 16 };
    rt_argmax_f32(&shape, y, x, 1);
}

/* cache[head][position / 16][.. 16][position % 16] = x    x [.., 4, 16] */
static inline void store_keys_4x16_16_rows(float *cache, const float *x, const int *positions,
                                           rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_k_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* cache[head][.. 16 / 16][position][16] = x    x [.., 4, 16] */
static inline void store_values_4x16_16_rows(float *cache, const float *x, const int *positions,
                                             rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_v_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rt_count(rows), 0,
                   4);
}

/* out = softmax(q k^T * 0.25) v, over the first visible[row] positions
 * q [.., 4, 16]  k [4][1][16][16]  v [4][1][16][16]  out [.., 4, 16] */
static inline void attention_4x16_16_rows(float *out, const float *q, const float *k,
                                          const float *v, float *scratch, const int *visible,
                                          rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16,
                                       .capacity = 16, .q_stride = 192, .out_stride = 64,
                                       .scale = 0.25f };
    rt_attention_f32(&shape, out + 64 * rows.begin, q + 192 * rows.begin, k, v, scratch, NULL,
                     visible + rows.begin, rt_count(rows), 0, 4);
}

/* y = x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, w, rt_count(rows), 0, 4);
}

/* out = softmax(q k^T * 0.25) v, over the first visible[row] positions
 * q [.., 4, 16]  k [4][5][16][16]  v [4][1][80][16]  out [.., 4, 16] */
static inline void attention_4x16_80_rows_v2(float *out, const float *q, const float *k,
                                             const float *v, float *scratch, const int *visible,
                                             rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16,
                                       .capacity = 80, .q_stride = 64, .out_stride = 64,
                                       .scale = 0.25f };
    rt_attention_f32(&shape, out + 64 * rows.begin, q + 64 * rows.begin, k, v, scratch, NULL,
                     visible + rows.begin, rt_count(rows), 0, 4);
}

/* y = x W^T + b    x [.., 64]  W [15, 64]  y [.., 15] */
static inline void linear_64x15_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 15, .x_stride = 64, .y_stride = 16,
                                    .has_bias = 1 };
    rt_linear_f32(&shape, y + 16 * rows.begin, x + 64 * rows.begin, w, rt_count(rows), 0, 1);
}

/* y = x - log(sum(exp(x)))    [.., 15] */
static inline void log_softmax_15_rows(float *y, const float *x, rt_span rows)
{
    static const RtVocabulary shape = { .size = 15, .x_stride = 16, .y_stride = 16 };
    rt_log_softmax_f32(&shape, y + 16 * rows.begin, x + 16 * rows.begin, rt_count(rows));
}

/* y = index of the first maximum of x, or -1 if x contains NaN or +inf    x [.., 15]  y [..] */
static inline void argmax_15_rows(int *y, const float *x, rt_span rows)
{
    static const RtVocabulary shape = { .size = 15, .x_stride = 16 };
    rt_argmax_f32(&shape, y + rows.begin, x + 16 * rows.begin, rt_count(rows));
}

#endif
