/* rt_plain.h: functions for the unrolled form of a model, and for some kernels: one float at a
 * time, in plain C11 with freestanding headers only. exp, log, tanh, sigmoid and gelu use the
 * methods of rt_simd.h, which states their error bounds. */
#ifndef RT_PLAIN_H
#define RT_PLAIN_H

#include "rt.h"

typedef union rt_float_bits { float f; uint32_t u; } rt_float_bits;

/* Convert f16 to float: multiplying by 2^112 corrects the exponent bias. */
static inline float rt_plain_of_f16(rt_f16 h)
{
    rt_float_bits b;
    b.u = (uint32_t)(h & 0x7fffu) << 13;
    b.f *= 5.192296858534828e33f;
    b.u |= (uint32_t)(h & 0x8000u) << 16 | ((h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0);
    return b.f;
}

/* Convert float to the nearest f16, ties to even. Numbers beyond +-65504, including infinities,
 * saturate; NaN stays NaN. Below 2^-14, f16 values are 2^-24 apart, like floats in 1/2 .. 1, so
 * adding 1/2 rounds to them. */
static inline rt_f16 rt_plain_to_f16(float x)
{
    rt_float_bits b;
    uint32_t sign;
    b.f = x;
    sign = b.u >> 16 & 0x8000u;
    b.u &= 0x7fffffffu;
    if (b.u > 0x7f800000u) return (rt_f16)(sign | 0x7e00u | (b.u >> 13 & 0x1ffu));
    if (b.u > 0x477fe000u) b.u = 0x477fe000u;
    if (b.u < 0x38800000u) {
        b.f += 0.5f;
        return (rt_f16)(sign | (b.u - 0x3f000000u));
    }
    return (rt_f16)(sign | ((b.u + 0xfffu + (b.u >> 13 & 1) - 0x38000000u) >> 13));
}

/* How many numbers of a key are rotated together: the largest power of two, at most 64, that
 * divides its width. */
static inline int rt_rotated_block(int width)
{
    const int block = width & -width;
    return block < 64 ? block : 64;
}

/* Rotate n numbers in place by a Hadamard matrix, without its factor 1 / sqrt(n); n is a power of
 * two. This spreads a large number over all of them. */
static inline void rt_plain_rotate(float *x, int n)
{
    for (int step = 1; step < n; step *= 2)
        for (int i = 0; i < n; i += 2 * step)
            for (int k = i; k < i + step; k++) {
                const float a = x[k], b = x[k + step];
                x[k] = a + b;
                x[k + step] = a - b;
            }
}

/* Rotate a key in place, block by block. */
static inline void rt_plain_rotate_key(float *key, int width)
{
    const int block = rt_rotated_block(width);
    for (int i = 0; i < width; i += block) rt_plain_rotate(key + i, block);
}

/* Copy a query of `width` numbers, divided by the length of a block, which is exact, and rotated as
 * int8 keys are. Products of such queries and rotated keys are the same as without rotation, except
 * for rounding. */
static inline void rt_plain_rotated_query(float *to, const float *q, int width)
{
    const float factor = 1 / (float)rt_rotated_block(width);
    for (int i = 0; i < width; i++) to[i] = factor * q[i];
    rt_plain_rotate_key(to, width);
}

/* The largest absolute value of n numbers; infinity if one is infinite, NaN if one is NaN. */
static inline float rt_plain_largest(const float *x, int n)
{
    rt_float_bits most, b;
    most.u = 0;
    for (int i = 0; i < n; i++) {
        b.f = x[i];
        b.u &= 0x7fffffffu;
        if (b.u > most.u) most.u = b.u;
    }
    return most.f;
}

/* The integer nearest to x, for x in -127 .. 127, ties to even; 0 for NaN and infinities. */
static inline int8_t rt_plain_to_int8(float x)
{
    rt_float_bits b;
    b.f = x + 12582912.0f;
    return (int8_t)((int)((b.u & 0xffu) ^ 0x80u) - 128);
}

/* The scale with which numbers up to +-most are rounded to bytes; NaN for infinity and NaN. */
static inline float rt_plain_scale_of(float most) { return most / 127 + 0 * most; }

/* Copy n numbers of a key to `to`, and rotate them there. */
static inline void rt_plain_rotated(float *to, const float *from, int n)
{
    rt_copy(to, from, (size_t)n * sizeof *to);
    rt_plain_rotate(to, n);
}

/* Rotate a key and round it to bytes, 16 apart in `to`. Returns its scale. A single block stays
 * rotated after the search for the largest number; several blocks are rotated again. */
static inline float rt_plain_int8_key(int8_t *to, const float *key, int width)
{
    const int block = rt_rotated_block(width);
    float most = 0, factor, rotated[64];
    for (int i = 0; i < width; i += block) {
        rt_plain_rotated(rotated, key + i, block);
        const float size = rt_plain_largest(rotated, block);
        most = most >= size || most != most ? most : size;
    }
    factor = 127 / most;
    for (int i = 0; i < width; i += block) {
        if (block < width) rt_plain_rotated(rotated, key + i, block);
        for (int k = 0; k < block; k++) to[16 * (i + k)] = rt_plain_to_int8(rotated[k] * factor);
    }
    return rt_plain_scale_of(most);
}

/* Round a value to bytes: number i goes to to[i / 16 * panel + i % 16]. Returns its scale. */
static inline float rt_plain_int8_value(int8_t *to, const float *value, int width, ptrdiff_t panel)
{
    const float most = rt_plain_largest(value, width), factor = 127 / most;
    for (int i = 0; i < width; i++) to[i / 16 * panel + i % 16] = rt_plain_to_int8(value[i] * factor);
    return rt_plain_scale_of(most);
}

/* Read a scale that is stored among bytes. */
static inline float rt_plain_scale(const int8_t *from)
{
    float scale;
    rt_copy(&scale, from, sizeof scale);
    return scale;
}

/* a * 2^n for n in -126 .. 128. */
static inline float rt_plain_scale2(float a, int n)
{
    rt_float_bits half, rest;
    half.u = (uint32_t)(n / 2 + 127) << 23;
    rest.u = (uint32_t)(n - n / 2 + 127) << 23;
    return a * half.f * rest.f;
}

static inline float rt_plain_exp(float x)
{
    const float shift = 12582912.0f;
    float n, r, p;
    if (x < -87.33654f) return 0;
    if (x > 88.72283f) {
        rt_float_bits infinity;
        infinity.u = 0x7f800000u;
        return infinity.f;
    }
    n = x * 1.44269504f + shift - shift;
    r = n * 2.12194440e-4f + (n * -0.693359375f + x);
    p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return rt_plain_scale2(r * r * p + r + 1, n == n ? (int)n : 0);
}

/* log(x) for a positive normal float. */
static inline float rt_plain_log(float x)
{
    static const float c[9] = { 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
        1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f };
    rt_float_bits b;
    float e, m, p = 0;
    b.f = x;
    e = (float)((int)(b.u >> 23) - 126);
    b.u = (b.u & 0x007fffffu) | 0x3f000000u;
    m = b.f;
    if (m < 0.70710678f) {
        e -= 1;
        m += m;
    }
    m -= 1;
    for (int i = 0; i < 9; i++) p = p * m + c[i];
    p = p * m * (m * m) - 2.12194440e-4f * e - 0.5f * (m * m);
    return 0.693359375f * e + (m + p);
}

/* 1 / sqrt(x) for a positive normal float: halving the exponent gives a first guess; each of four
 * Newton steps doubles the number of correct digits. */
static inline float rt_plain_rsqrt(float x)
{
    rt_float_bits b;
    b.f = x;
    b.u = 0x5f375a86u - (b.u >> 1);
    float y = b.f;
    for (int i = 0; i < 4; i++) y = y * (1.5f - 0.5f * x * y * y);
    return y;
}

static inline float rt_plain_sqrt(float x) { return x > 0 ? x * rt_plain_rsqrt(x) : 0; }

static inline float rt_plain_sigmoid(float x) { return 1 / (1 + rt_plain_exp(-x)); }

static inline float rt_plain_tanh(float x)
{
    float size = x < 0 ? -x : x, z = x * x, far;
    if (size < 0.625f) {
        float p = -5.70498872745e-3f;
        p = p * z + 2.06390887954e-2f;
        p = p * z + -5.37397155531e-2f;
        p = p * z + 1.33314422036e-1f;
        p = p * z + -3.33332819422e-1f;
        return x * z * p + x;
    }
    far = 1 - 2 / (rt_plain_exp(2 * size) + 1);
    return x < 0 ? -far : far;
}

/* x / 2 (1 + erf(x / sqrt(2))), from the tail of the normal distribution. */
static inline float rt_plain_gelu(float x)
{
    float t = x < 0 ? -x : x, v, p;
    if (t > 15) t = 15;
    v = t / (t + 3);
    p = 2.69930030e-2f;
    p = p * v + -9.21560450e-2f;
    p = p * v + 8.23460432e-2f;
    p = p * v + 1.05545822e-2f;
    p = p * v + 6.14774974e-2f;
    p = p * v + -1.58530717e-1f;
    p = p * v + -2.87011872e-1f;
    p = p * v + 1.05315920f;
    p = p * v + -1.19682670f;
    p = p * v + 0.5f;
    return (x > 0 ? x : 0) - t * rt_plain_exp(-0.5f * t * t) * p;
}

static inline float rt_plain_activate(RtActivation kind, float x)
{
    switch (kind) {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) case RT_##id: return plain;
#include "activations.def"
#undef RT_ACTIVATION
    case RT_ACTIVATIONS: break;
    }
    return x;
}

#endif
