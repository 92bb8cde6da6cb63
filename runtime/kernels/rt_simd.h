/* rt_simd.h: vectors of sixteen floats. rt_tile.h has the register tile of matrix products.
 *
 * rt_v16 is a struct of native vectors. The first section of each file in simd/ defines the tile
 * sizes and the same functions, from rt_load to rt_max_of; neon.h leaves the functions to
 * portable.h. The rest of this file is shared. A new instruction set needs rows in
 * instruction_sets.def and, if it has code of its own, a file. Loads and stores take any float
 * pointer: vectors need no alignment. RT_PORTABLE selects the portable section, whatever the
 * compiler knows of the machine.
 *
 * Compile with -ffp-contract=off. For one instruction set every compiler then computes the same
 * bits, because only rt_fma fuses. */
#ifndef RT_SIMD_H
#define RT_SIMD_H

#include "rt.h"
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* The linkage of kernels: external, unless the including file defines this as `static inline`. */
#ifndef RT_KERNEL
#define RT_KERNEL
#endif

/* RT_APART: a long function that handles at least sixteen numbers per call; inlined copies would
 * only cost size and compile time. RT_DEBUG: nothing is forced inline, so that a debugger can step
 * into functions; without optimisation the inlined copies for each shape take minutes to
 * compile. */
#if defined(RT_DEBUG)
#define RT_INLINE static inline
#define RT_APART static inline
#define RT_UNROLL
#elif defined(__clang__)
#define RT_INLINE static inline __attribute__((always_inline))
#define RT_APART static __attribute__((noinline, unused))
#define RT_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define RT_INLINE static inline __attribute__((always_inline))
#define RT_APART static __attribute__((noinline, unused))
#define RT_UNROLL _Pragma("GCC unroll 32")
#else
#define RT_INLINE static inline
#define RT_APART static inline
#define RT_UNROLL
#endif

/* Prefetch a cache line: rt_prefetch into all caches, rt_prefetch_later into the second-level
 * cache. Both do nothing if the compiler has no builtin for it. */
#if defined(__GNUC__)
RT_INLINE void rt_prefetch(const void *p) { __builtin_prefetch(p); }
RT_INLINE void rt_prefetch_later(const void *p) { __builtin_prefetch(p, 0, 1); }
#else
RT_INLINE void rt_prefetch(const void *p) { (void)p; }
RT_INLINE void rt_prefetch_later(const void *p) { (void)p; }
#endif

/* Tile sizes, for rt_tile.h: the RT_TILE_ROWS x RT_TILE_PANELS sums of a tile, or the RT_WIDE_ROWS
 * x RT_WIDE_PANELS of a wide one, stay in registers; one row reads RT_ROW_PANELS panels at once. */

/* The section of one instruction set. */
#define RT_SIMD_PART RT_PART_FLOATS
#include "instruction_sets.def"
#undef RT_SIMD_PART

/* The functions of a section whose names do not explain them:
 * rt_load_bf16_even, _odd  of sixteen pairs of 16-bit numbers, each the upper half of a float, the
 *                         first or the second of each pair
 * rt_load_int8            sixteen signed bytes
 * rt_load_n, rt_store_n   the first n lanes, n in 0..16; the others become 0 or are not stored, and
 *                         their memory is not accessed
 * rt_first_n              lanes below n from a, the others from rest
 * rt_max, rt_min          b where either operand is NaN
 * rt_if_less              yes where a < b, else no (also where either is NaN)
 * rt_scale2               a * 2^n for integers n in -126..128, rounded once
 * rt_sum, rt_max_of       combine lanes i and i+8, then i+4, i+2, i+1 */

RT_INLINE rt_v16 rt_keep_n(rt_v16 a, int n) { return rt_first_n(a, n, rt_set1(0)); }
/* The number of lanes in use in the group of sixteen that starts at column i of `width`. */
RT_INLINE int rt_lanes_at(int width, int i) { return width - i < 16 ? width - i : 16; }

/* ---- functions ------------------------------------------------------------------------------------------ */

/* exp(x), within 1.02 ulp; 0 below -87.33654 (where the result would be denormal) and for -inf, inf
 * above 88.72283, NaN for NaN. x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite, ln 2 in two
 * parts); exp(r) is the polynomial of Cephes expf. Adding 1.5 * 2^23 rounds to the nearest
 * integer. */
RT_INLINE rt_v16 rt_exp(rt_v16 x)
{
    const rt_v16 low = rt_set1(-87.33654f), high = rt_set1(88.72283f), shift = rt_set1(12582912.0f);
    rt_v16 bounded = rt_min(high, rt_max(low, x));
    rt_v16 n = rt_sub(rt_fma(bounded, rt_set1(1.44269504f), shift), shift);
    rt_v16 r = rt_fma(n, rt_set1(-0.693359375f), bounded), p;
    r = rt_fma(n, rt_set1(2.12194440e-4f), r);
    p = rt_set1(1.9875691500e-4f);
    p = rt_fma(p, r, rt_set1(1.3981999507e-3f));
    p = rt_fma(p, r, rt_set1(8.3334519073e-3f));
    p = rt_fma(p, r, rt_set1(4.1665795894e-2f));
    p = rt_fma(p, r, rt_set1(1.6666665459e-1f));
    p = rt_fma(p, r, rt_set1(5.0000001201e-1f));
    p = rt_add(rt_fma(rt_mul(r, r), p, r), rt_set1(1));
    p = rt_scale2(p, n);
    p = rt_if_less(x, low, rt_set1(0), p);
    return rt_if_less(high, x, rt_set1(INFINITY), p);
}

/* log(x) for one positive normal float, within 1 ulp; the polynomial of Cephes logf. */
static inline float rt_log(float x)
{
    static const float c[9] = { 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
        1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f };
    uint32_t bits, fraction;
    float m, e, p = 0;
    memcpy(&bits, &x, sizeof bits);
    e = (float)((int)(bits >> 23) - 126);
    fraction = (bits & 0x007fffffu) | 0x3f000000u;                      /* m in 0.5 .. 1 */
    memcpy(&m, &fraction, sizeof m);
    if (m < 0.70710678f) { e -= 1; m += m; }
    m -= 1;
    for (int i = 0; i < 9; i++)
        p = p * m + c[i];
    p = p * m * (m * m) - 2.12194440e-4f * e - 0.5f * (m * m);
    return 0.693359375f * e + (m + p);
}

RT_INLINE rt_v16 rt_minus(rt_v16 x) { return rt_sub(rt_set1(0), x); }

/* tanh(x), within 1.3 ulp; +-1 for +-inf, NaN for NaN. Near 0, where 1 - 2 / (e^2x + 1) would
 * cancel, it is the polynomial of Cephes tanhf. */
RT_INLINE rt_v16 rt_tanh_here(rt_v16 x)
{
    const rt_v16 one = rt_set1(1), two = rt_set1(2), size = rt_max(rt_minus(x), x), z = rt_mul(x, x);
    rt_v16 far = rt_sub(one, rt_div(two, rt_add(rt_exp(rt_mul(two, size)), one)));
    rt_v16 p = rt_set1(-5.70498872745e-3f);
    p = rt_fma(p, z, rt_set1(2.06390887954e-2f));
    p = rt_fma(p, z, rt_set1(-5.37397155531e-2f));
    p = rt_fma(p, z, rt_set1(1.33314422036e-1f));
    p = rt_fma(p, z, rt_set1(-3.33332819422e-1f));
    far = rt_if_less(x, rt_set1(0), rt_minus(far), far);
    return rt_if_less(size, rt_set1(0.625f), rt_fma(rt_mul(x, z), p, x), far);
}

/* erfc(t / sqrt(2)) / 2, the tail of the normal distribution beyond t, for 0 <= t <= 15:
 * exp(-t^2 / 2) P(v) with v = t / (t + 3); P is a minimax fit of relative error 1.1e-8 that gives
 * 1/2 at 0. The absolute error is below 2^-24; the relative error is that of rounding t^2 / 2. */
RT_INLINE rt_v16 rt_normal_tail(rt_v16 t)
{
    const rt_v16 v = rt_div(t, rt_add(t, rt_set1(3)));
    rt_v16 p = rt_set1(2.69930030e-2f);
    p = rt_fma(p, v, rt_set1(-9.21560450e-2f));
    p = rt_fma(p, v, rt_set1(8.23460432e-2f));
    p = rt_fma(p, v, rt_set1(1.05545822e-2f));
    p = rt_fma(p, v, rt_set1(6.14774974e-2f));
    p = rt_fma(p, v, rt_set1(-1.58530717e-1f));
    p = rt_fma(p, v, rt_set1(-2.87011872e-1f));
    p = rt_fma(p, v, rt_set1(1.05315920f));
    p = rt_fma(p, v, rt_set1(-1.19682670f));
    p = rt_fma(p, v, rt_set1(0.5f));
    return rt_mul(rt_exp(rt_mul(rt_mul(rt_set1(-0.5f), t), t)), p);
}

/* x / (1 + exp(-s)); 0 where s is -inf, even if x is -inf. */
RT_INLINE rt_v16 rt_times_sigmoid_here(rt_v16 x, rt_v16 s)
{
    return rt_div(rt_max(rt_set1(-3.402823466e38f), x), rt_add(rt_set1(1), rt_exp(rt_minus(s))));
}

/* x / 2 (1 + erf(x / sqrt(2))) = max(x, 0) - |x| tail(|x|): nothing cancels on either side. */
RT_INLINE rt_v16 rt_gelu_here(rt_v16 x)
{
    const rt_v16 size = rt_min(rt_set1(15), rt_max(rt_minus(x), x));
    return rt_sub(rt_max(rt_set1(0), x), rt_mul(size, rt_normal_tail(size)));
}

/* A struct of one vector is passed in a register. A struct of several is not: gcc copies it in
 * pieces that the processor cannot forward from its stores (silu with AVX2 took three times as
 * long), so it is passed in memory. */
#ifdef RT_ONE_VECTOR
RT_APART rt_v16 rt_tanh(rt_v16 x) { return rt_tanh_here(x); }
RT_APART rt_v16 rt_gelu(rt_v16 x) { return rt_gelu_here(x); }
RT_APART rt_v16 rt_times_sigmoid(rt_v16 x, rt_v16 s) { return rt_times_sigmoid_here(x, s); }
#else
RT_APART void rt_tanh_apart(float *x) { rt_store(x, rt_tanh_here(rt_load(x))); }
RT_APART void rt_gelu_apart(float *x) { rt_store(x, rt_gelu_here(rt_load(x))); }
RT_APART void rt_times_sigmoid_apart(float *x, const float *s) { rt_store(x, rt_times_sigmoid_here(rt_load(x), rt_load(s))); }

RT_INLINE rt_v16 rt_tanh(rt_v16 x)
{
    XF_ALIGN(64) float at[16];
    rt_store(at, x);
    rt_tanh_apart(at);
    return rt_load(at);
}

RT_INLINE rt_v16 rt_gelu(rt_v16 x)
{
    XF_ALIGN(64) float at[16];
    rt_store(at, x);
    rt_gelu_apart(at);
    return rt_load(at);
}

RT_INLINE rt_v16 rt_times_sigmoid(rt_v16 x, rt_v16 s)
{
    XF_ALIGN(64) float at[16], of[16];
    rt_store(at, x), rt_store(of, s);
    rt_times_sigmoid_apart(at, of);
    return rt_load(at);
}
#endif

/* 1 + tanh(u) = 2 sigmoid(2u), so this is x sigmoid(x (a + b x^2)) with a = sqrt(8 / pi),
 * b = 0.044715 a. */
RT_INLINE rt_v16 rt_gelu_tanh(rt_v16 x)
{
    return rt_times_sigmoid(x, rt_mul(x, rt_fma(rt_set1(7.13548163e-2f), rt_mul(x, x), rt_set1(1.59576912f))));
}

/* tanh is within 1.3 ulp and sigmoid within 2.5 (0 below -88.7); the gelus and silu are within
 * 2^-23 |x| of the exact value and, for x >= -1, within 3 ulp. The result is NaN for NaN only; at
 * -inf the gelus and silu are 0. */
RT_INLINE rt_v16 rt_activate(RtActivation kind, rt_v16 x)
{
    switch (kind) {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) case RT_##id: return vector;
#include "activations.def"
#undef RT_ACTIVATION
    case RT_ACTIVATIONS: break;
    }
    return x;
}

/* Apply an activation to the first `columns` columns of `rows` rows, in place. */
RT_APART void rt_activate_rows(RtActivation kind, float *y, size_t stride, int rows, int columns)
{
    for (int r = 0; r < rows; r++, y += stride)
        for (int i = 0; i < columns; i += 16) {
            const int n = rt_lanes_at(columns, i);
            rt_store_n(y + i, rt_activate(kind, rt_load_n(y + i, n)), n);
        }
}

#endif
