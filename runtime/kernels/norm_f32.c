/* norm_f32.c: the three norms, over a row or over each head of a row.
 * The mean is computed first (it is 0 for RMS), then the squared differences: the one-pass formula
 * loses the variance of a row far from 0. Padding columns of the row become zeros. y may be x.
 * Whole groups of sixteen have their own loop: with a single loop, whose last iteration is masked,
 * gcc's code takes a fifth longer than clang's. */
#include "rt_simd.h"
#include "kernels.h"

static inline float rt_norm_mean(const float *x, int width)
{
    rt_v16 sum = rt_set1(0);
    int i = 0;
    for (; i <= width - 16; i += 16)
        sum = rt_add(sum, rt_load(x + i));
    if (i < width) sum = rt_add(sum, rt_load_n(x + i, width - i));
    return rt_sum(sum) / (float)width;
}

/* The sum of (x - mean)^2 over a row or head. */
static inline float rt_norm_squares(const float *x, int width, float mean)
{
    const rt_v16 centre = rt_set1(mean);
    rt_v16 sum = rt_set1(0);
    int i = 0;
    for (; i <= width - 16; i += 16) {
        const rt_v16 d = rt_sub(rt_load(x + i), centre);
        sum = rt_fma(d, d, sum);
    }
    if (i < width) {
        const rt_v16 d = rt_keep_n(rt_sub(rt_load_n(x + i, width - i), centre), width - i);
        sum = rt_fma(d, d, sum);
    }
    return rt_sum(sum);
}

/* The factor of a row or head. ANNOTATED divides by width - 1; xformc rejects width 1. */
static inline float rt_norm_factor(RtNormKind kind, float squares, int width, float eps)
{
    switch (kind) {
    case RT_NORM_ANNOTATED: return 1 / (sqrtf(squares / (float)(width - 1)) + eps);
    case RT_NORM_LAYER:
    case RT_NORM_RMS: break;
    }
    return 1 / sqrtf(squares / (float)width + eps);
}

static inline rt_v16 rt_norm_of(rt_v16 x, rt_v16 centre, rt_v16 factor, const float *gain, const float *bias)
{
    return rt_fma(rt_mul(rt_sub(x, centre), factor), rt_load(gain), bias ? rt_load(bias) : rt_set1(0));
}

/* One head, or a whole row: writes `width` columns of y and nothing after them. */
static inline void rt_norm_head(const RtNorm *shape, float *y, const float *x, const float *gain)
{
    const int width = shape->width, centred = shape->kind != RT_NORM_RMS;
    const float *bias = centred ? gain + ((width + 15) & ~15) : NULL;
    const float mean = centred ? rt_norm_mean(x, width) : 0;
    const float squares = rt_norm_squares(x, width, mean);
    const rt_v16 centre = rt_set1(mean), factor = rt_set1(rt_norm_factor(shape->kind, squares, width, shape->eps));
    int i = 0;
    for (; i <= width - 16; i += 16)
        rt_store(y + i, rt_norm_of(rt_load(x + i), centre, factor, gain + i, centred ? bias + i : NULL));
    if (i < width)
        rt_store_n(y + i, rt_norm_of(rt_load_n(x + i, width - i), centre, factor, gain + i, centred ? bias + i : NULL), width - i);
}

RT_KERNEL void rt_norm_f32(const RtNorm *shape, float *y, const float *x, const void *w, int rows)
{
    const int used = shape->heads * shape->width, padding = -used & 15;
    for (int r = 0; r < rows; r++, x += shape->x_stride, y += shape->y_stride) {
        for (int i = 0; i < used; i += shape->width)
            rt_norm_head(shape, y + i, x + i, (const float *)w);
        rt_store_n(y + used, rt_set1(0), padding);
    }
}
