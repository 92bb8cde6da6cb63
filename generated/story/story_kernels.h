/* story_kernels.h: the operations of story.c in plain C11: no intrinsics, no library, and only
 * freestanding headers. One function per distinct shape, with its sizes as constants; the inner
 * loops of linears and attention scores are unrolled by 4. */
#ifndef STORY_KERNELS_H
#define STORY_KERNELS_H

#include "rt_plain.h"
#include "story.h"

/* y = scale * table[id]    y [.., 64] */
static inline void embed_64(float *y, const void *table, const int *ids)
{
    for (int r = 0; r < 1; r++) {
        const float *v = (const float *)table + (ptrdiff_t)ids[r] * 64;
        for (int i = 0; i < 64; i++) y[(ptrdiff_t)r * 64 + i] = 1.0f * v[i];
    }
}

/* y = gain * x / sqrt(mean(x * x) + eps)    x, y [.., 64] */
static inline void norm_64(float *y, const float *x, const void *w)
{
    const float *gain = w;
    for (int r = 0; r < 1; r++)
        for (int h = 0; h < 1; h++) {
            const float *v = x + (ptrdiff_t)r * 64 + h * 64;
            float *o = y + (ptrdiff_t)r * 64 + h * 64, mean = 0, squares = 0, factor;
            for (int i = 0; i < 64; i++) squares += (v[i] - mean) * (v[i] - mean);
            factor = rt_plain_rsqrt(squares / 64.0f + 1e-05f);
            for (int i = 0; i < 64; i++) o[i] = (v[i] - mean) * factor * gain[i];
        }
}

/* y = x W^T    x [.., 64]  W [128, 64]  y [.., 128] */
static inline void linear_64x128_unbiased(float *y, const float *x, const void *w, rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int p = parts.begin; p < parts.end; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 128 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = s[c];
        }
}

/* rotate 8 of 8 columns of each head by position * rate, in pairs (i, i + dims / 2)
 * x, y [.., 8, 8] */
static inline void rotary_8x8(float *y, const float *x, const void *table, const int *positions,
                              rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int h = parts.begin; h < parts.end; h++) {
            const float *v = x + (ptrdiff_t)r * 128 + h * 8,
                *cosine = (const float *)table + (ptrdiff_t)positions[r] * 16;
            float *o = y + (ptrdiff_t)r * 128 + h * 8;
            for (int i = 0; i < 4; i++) {
                const float a = v[i], b = v[i + 4], c = cosine[i], s = cosine[4 + i];
                o[i] = a * c - b * s;
                o[i + 4] = b * c + a * s;
            }
            for (int i = 8; i < 8; i++) o[i] = v[i];
        }
}

/* rotate 8 of 8 columns of each head by position * rate, in pairs (i, i + dims / 2)
 * x, y [.., 4, 8] */
static inline void rotary_4x8(float *y, const float *x, const void *table, const int *positions,
                              rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int h = parts.begin; h < parts.end; h++) {
            const float *v = x + (ptrdiff_t)r * 128 + h * 8,
                *cosine = (const float *)table + (ptrdiff_t)positions[r] * 16;
            float *o = y + (ptrdiff_t)r * 128 + h * 8;
            for (int i = 0; i < 4; i++) {
                const float a = v[i], b = v[i + 4], c = cosine[i], s = cosine[4 + i];
                o[i] = a * c - b * s;
                o[i + 4] = b * c + a * s;
            }
            for (int i = 8; i < 8; i++) o[i] = v[i];
        }
}

/* cache[head][position / 16][.. 8][position % 16] = x    x [.., 4, 8] */
static inline void store_keys_4x8_512(float *cache, const float *x, const int *positions,
                                      rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int h = parts.begin; h < parts.end; h++)
            for (int i = 0; i < 8; i++)
                cache[(ptrdiff_t)h * 4096 + (ptrdiff_t)(positions[r] / 16) * 128 + 16 * i
                      + positions[r] % 16] = x[(ptrdiff_t)r * 128 + h * 8 + i];
}

/* cache[head][.. 8 / 16][position][16] = x    x [.., 4, 8] */
static inline void store_values_4x8_512(float *cache, const float *x, const int *positions,
                                        rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int h = parts.begin; h < parts.end; h++)
            for (int i = 0; i < 8; i++)
                cache[(ptrdiff_t)h * 8192 + (ptrdiff_t)(i / 16) * 8192 + 16 * positions[r]
                      + i % 16] = x[(ptrdiff_t)r * 128 + h * 8 + i];
}

/* out = softmax(q k^T * 0.353553391) v, over the first visible[row] positions
 * q [.., 8, 8]  k [4][32][8][16]  v [4][1][512][16]  out [.., 8, 8] */
static inline void attention_8x8_512(float *out, const float *q, const float *k, const float *v,
                                     float *scratch, const int *visible, rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int h = parts.begin; h < parts.end; h++) {
            const float *key = k + (ptrdiff_t)(h / 2) * 4096,
                *value = v + (ptrdiff_t)(h / 2) * 8192;
            const float *query = q + (ptrdiff_t)r * 128 + h * 8;
            const int seen = visible[r];
            float most = -3.402823466e38f, sum = 0;
            int any = 0;
            for (int first = 0; first < seen; first += 16) {
                const float *a = key + (ptrdiff_t)(first / 16) * 128;
                float sums[16];
                for (int c = 0; c < 16; c++) sums[c] = 0;
                for (int i = 0; i < 8; i += 4, a += 64)
                    for (int c = 0; c < 16; c++) {
                        sums[c] += a[0 + c] * query[i + 0];
                        sums[c] += a[16 + c] * query[i + 1];
                        sums[c] += a[32 + c] * query[i + 2];
                        sums[c] += a[48 + c] * query[i + 3];
                    }
                for (int j = first; j < first + 16 && j < seen; j++) {
                    float s = sums[j - first];
                    s *= 0.353553391f;
                    scratch[j] = s;
                    if (s > most) most = s;
                    any = 1;
                }
            }
            for (int j = 0; j < seen; j++) {
                scratch[j] = any ? rt_plain_exp(scratch[j] - most) : 0;
                sum += scratch[j];
            }
            for (int j = 0; j < seen && any; j++) scratch[j] /= sum;
            for (int i = 0; i < 8; i += 16) {
                const float *a = value + (ptrdiff_t)(i / 16) * 8192;
                float sums[16];
                int j = 0;
                for (int c = 0; c < 16; c++) sums[c] = 0;
                for (; j + 3 < seen; j += 4, a += 64)
                    for (int c = 0; c < 16; c++) {
                        sums[c] += a[0 + c] * scratch[j + 0];
                        sums[c] += a[16 + c] * scratch[j + 1];
                        sums[c] += a[32 + c] * scratch[j + 2];
                        sums[c] += a[48 + c] * scratch[j + 3];
                    }
                for (; j < seen; j++, a += 16)
                    for (int c = 0; c < 16; c++) sums[c] += a[c] * scratch[j];
                for (int c = 0; c < 16 && i + c < 8;
                     c++) out[(ptrdiff_t)r * 64 + h * 8 + i + c] = sums[c];
            }
        }
}

/* y = a + x W^T    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_unbiased_add(float *y, const float *x, const void *w,
                                             const float *b, rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int p = parts.begin; p < parts.end; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 64 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = b[(ptrdiff_t)r * 64 + 16 * p + c] + s[c];
        }
}

/* y = silu(x W^T) * (x U^T)    x [.., 64]  W [172, 64]  y [.., 172] */
static inline void linear_64x172_unbiased_silu_gate(float *y, const float *x, const void *w,
                                                    rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int p = parts.begin; p < parts.end; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 176 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            float t[16];
            a = (const float *)w + (ptrdiff_t)(p + 11) * 1024;
            for (int c = 0; c < 16; c++) t[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    t[c] += a[0 + c] * v[i + 0];
                    t[c] += a[16 + c] * v[i + 1];
                    t[c] += a[32 + c] * v[i + 2];
                    t[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < (p == 10 ? 12 : 16); c++) o[c] = rt_plain_activate(RT_SILU,
                    s[c]) * t[c];
        }
}

/* y = a + x W^T    x [.., 172]  W [64, 172]  y [.., 64] */
static inline void linear_172x64_unbiased_add(float *y, const float *x, const void *w,
                                              const float *b, rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int p = parts.begin; p < parts.end; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 2752, *v = x + (ptrdiff_t)r * 176;
            float *o = y + (ptrdiff_t)r * 64 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 172; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = b[(ptrdiff_t)r * 64 + 16 * p + c] + s[c];
        }
}

/* y = x W^T    x [.., 64]  W [512, 64]  y [.., 512] */
static inline void linear_64x512_unbiased(float *y, const float *x, const void *w, rt_span parts)
{
    for (int r = 0; r < 1; r++)
        for (int p = parts.begin; p < parts.end; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 528 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = s[c];
        }
}

/* y = index of the first maximum of x, or -1 if x contains NaN or +inf    x [.., 512]  y [..] */
static inline void argmax_512(int *y, const float *x)
{
    for (int r = 0; r < 1; r++) {
        const float *v = x + (ptrdiff_t)r * 528;
        int best = 0, good = 1;
        for (int i = 0; i < 512; i++) {
            if (v[i] > v[best]) best = i;
            good &= v[i] <= 3.402823466e38f;
        }
        y[r] = good ? best : -1;
    }
}

/* y = scale * table[id]    y [.., 64] */
static inline void embed_64_rows(float *y, const void *table, const int *ids, rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++) {
        const float *v = (const float *)table + (ptrdiff_t)ids[r] * 64;
        for (int i = 0; i < 64; i++) y[(ptrdiff_t)r * 64 + i] = 1.0f * v[i];
    }
}

/* y = gain * x / sqrt(mean(x * x) + eps)    x, y [.., 64] */
static inline void norm_64_rows(float *y, const float *x, const void *w, rt_span rows)
{
    const float *gain = w;
    for (int r = rows.begin; r < rows.end; r++)
        for (int h = 0; h < 1; h++) {
            const float *v = x + (ptrdiff_t)r * 64 + h * 64;
            float *o = y + (ptrdiff_t)r * 64 + h * 64, mean = 0, squares = 0, factor;
            for (int i = 0; i < 64; i++) squares += (v[i] - mean) * (v[i] - mean);
            factor = rt_plain_rsqrt(squares / 64.0f + 1e-05f);
            for (int i = 0; i < 64; i++) o[i] = (v[i] - mean) * factor * gain[i];
        }
}

/* y = x W^T    x [.., 64]  W [128, 64]  y [.., 128] */
static inline void linear_64x128_unbiased_rows(float *y, const float *x, const void *w,
                                               rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int p = 0; p < 8; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 128 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = s[c];
        }
}

/* rotate 8 of 8 columns of each head by position * rate, in pairs (i, i + dims / 2)
 * x, y [.., 8, 8] */
static inline void rotary_8x8_rows(float *y, const float *x, const void *table,
                                   const int *positions, rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int h = 0; h < 8; h++) {
            const float *v = x + (ptrdiff_t)r * 128 + h * 8,
                *cosine = (const float *)table + (ptrdiff_t)positions[r] * 16;
            float *o = y + (ptrdiff_t)r * 128 + h * 8;
            for (int i = 0; i < 4; i++) {
                const float a = v[i], b = v[i + 4], c = cosine[i], s = cosine[4 + i];
                o[i] = a * c - b * s;
                o[i + 4] = b * c + a * s;
            }
            for (int i = 8; i < 8; i++) o[i] = v[i];
        }
}

/* rotate 8 of 8 columns of each head by position * rate, in pairs (i, i + dims / 2)
 * x, y [.., 4, 8] */
static inline void rotary_4x8_rows(float *y, const float *x, const void *table,
                                   const int *positions, rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int h = 0; h < 4; h++) {
            const float *v = x + (ptrdiff_t)r * 128 + h * 8,
                *cosine = (const float *)table + (ptrdiff_t)positions[r] * 16;
            float *o = y + (ptrdiff_t)r * 128 + h * 8;
            for (int i = 0; i < 4; i++) {
                const float a = v[i], b = v[i + 4], c = cosine[i], s = cosine[4 + i];
                o[i] = a * c - b * s;
                o[i + 4] = b * c + a * s;
            }
            for (int i = 8; i < 8; i++) o[i] = v[i];
        }
}

/* cache[head][position / 16][.. 8][position % 16] = x    x [.., 4, 8] */
static inline void store_keys_4x8_512_rows(float *cache, const float *x, const int *positions,
                                           rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int h = 0; h < 4; h++)
            for (int i = 0; i < 8; i++)
                cache[(ptrdiff_t)h * 4096 + (ptrdiff_t)(positions[r] / 16) * 128 + 16 * i
                      + positions[r] % 16] = x[(ptrdiff_t)r * 128 + h * 8 + i];
}

/* cache[head][.. 8 / 16][position][16] = x    x [.., 4, 8] */
static inline void store_values_4x8_512_rows(float *cache, const float *x, const int *positions,
                                             rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int h = 0; h < 4; h++)
            for (int i = 0; i < 8; i++)
                cache[(ptrdiff_t)h * 8192 + (ptrdiff_t)(i / 16) * 8192 + 16 * positions[r]
                      + i % 16] = x[(ptrdiff_t)r * 128 + h * 8 + i];
}

/* out = softmax(q k^T * 0.353553391) v, over the first visible[row] positions
 * q [.., 8, 8]  k [4][32][8][16]  v [4][1][512][16]  out [.., 8, 8] */
static inline void attention_8x8_512_rows(float *out, const float *q, const float *k,
                                          const float *v, float *scratch, const int *visible,
                                          rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int h = 0; h < 8; h++) {
            const float *key = k + (ptrdiff_t)(h / 2) * 4096,
                *value = v + (ptrdiff_t)(h / 2) * 8192;
            const float *query = q + (ptrdiff_t)r * 128 + h * 8;
            const int seen = visible[r];
            float most = -3.402823466e38f, sum = 0;
            int any = 0;
            for (int first = 0; first < seen; first += 16) {
                const float *a = key + (ptrdiff_t)(first / 16) * 128;
                float sums[16];
                for (int c = 0; c < 16; c++) sums[c] = 0;
                for (int i = 0; i < 8; i += 4, a += 64)
                    for (int c = 0; c < 16; c++) {
                        sums[c] += a[0 + c] * query[i + 0];
                        sums[c] += a[16 + c] * query[i + 1];
                        sums[c] += a[32 + c] * query[i + 2];
                        sums[c] += a[48 + c] * query[i + 3];
                    }
                for (int j = first; j < first + 16 && j < seen; j++) {
                    float s = sums[j - first];
                    s *= 0.353553391f;
                    scratch[j] = s;
                    if (s > most) most = s;
                    any = 1;
                }
            }
            for (int j = 0; j < seen; j++) {
                scratch[j] = any ? rt_plain_exp(scratch[j] - most) : 0;
                sum += scratch[j];
            }
            for (int j = 0; j < seen && any; j++) scratch[j] /= sum;
            for (int i = 0; i < 8; i += 16) {
                const float *a = value + (ptrdiff_t)(i / 16) * 8192;
                float sums[16];
                int j = 0;
                for (int c = 0; c < 16; c++) sums[c] = 0;
                for (; j + 3 < seen; j += 4, a += 64)
                    for (int c = 0; c < 16; c++) {
                        sums[c] += a[0 + c] * scratch[j + 0];
                        sums[c] += a[16 + c] * scratch[j + 1];
                        sums[c] += a[32 + c] * scratch[j + 2];
                        sums[c] += a[48 + c] * scratch[j + 3];
                    }
                for (; j < seen; j++, a += 16)
                    for (int c = 0; c < 16; c++) sums[c] += a[c] * scratch[j];
                for (int c = 0; c < 16 && i + c < 8;
                     c++) out[(ptrdiff_t)r * 64 + h * 8 + i + c] = sums[c];
            }
        }
}

/* y = a + x W^T    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_unbiased_add_rows(float *y, const float *x, const void *w,
                                                  const float *b, rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int p = 0; p < 4; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 64 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = b[(ptrdiff_t)r * 64 + 16 * p + c] + s[c];
        }
}

/* y = silu(x W^T) * (x U^T)    x [.., 64]  W [172, 64]  y [.., 172] */
static inline void linear_64x172_unbiased_silu_gate_rows(float *y, const float *x, const void *w,
                                                         rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int p = 0; p < 11; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 176 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            float t[16];
            a = (const float *)w + (ptrdiff_t)(p + 11) * 1024;
            for (int c = 0; c < 16; c++) t[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    t[c] += a[0 + c] * v[i + 0];
                    t[c] += a[16 + c] * v[i + 1];
                    t[c] += a[32 + c] * v[i + 2];
                    t[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < (p == 10 ? 12 : 16); c++) o[c] = rt_plain_activate(RT_SILU,
                    s[c]) * t[c];
        }
}

/* y = a + x W^T    x [.., 172]  W [64, 172]  y [.., 64] */
static inline void linear_172x64_unbiased_add_rows(float *y, const float *x, const void *w,
                                                   const float *b, rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int p = 0; p < 4; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 2752, *v = x + (ptrdiff_t)r * 176;
            float *o = y + (ptrdiff_t)r * 64 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 172; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = b[(ptrdiff_t)r * 64 + 16 * p + c] + s[c];
        }
}

/* y = x W^T    x [.., 64]  W [512, 64]  y [.., 512] */
static inline void linear_64x512_unbiased_rows(float *y, const float *x, const void *w,
                                               rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++)
        for (int p = 0; p < 32; p++) {
            const float *a = (const float *)w + (ptrdiff_t)p * 1024, *v = x + (ptrdiff_t)r * 64;
            float *o = y + (ptrdiff_t)r * 528 + 16 * p, s[16];
            for (int c = 0; c < 16; c++) s[c] = 0;
            for (int i = 0; i < 64; i += 4, a += 64)
                for (int c = 0; c < 16; c++) {
                    s[c] += a[0 + c] * v[i + 0];
                    s[c] += a[16 + c] * v[i + 1];
                    s[c] += a[32 + c] * v[i + 2];
                    s[c] += a[48 + c] * v[i + 3];
                }
            for (int c = 0; c < 16; c++) o[c] = s[c];
        }
}

/* y = index of the first maximum of x, or -1 if x contains NaN or +inf    x [.., 512]  y [..] */
static inline void argmax_512_rows(int *y, const float *x, rt_span rows)
{
    for (int r = rows.begin; r < rows.end; r++) {
        const float *v = x + (ptrdiff_t)r * 528;
        int best = 0, good = 1;
        for (int i = 0; i < 512; i++) {
            if (v[i] > v[best]) best = i;
            good &= v[i] <= 3.402823466e38f;
        }
        y[r] = good ? best : -1;
    }
}

#endif
