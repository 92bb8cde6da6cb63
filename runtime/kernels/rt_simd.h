/* rt_simd.h: sixteen floats at a time. rt_tile.h has the register tile that matrix products are made of.
 *
 * rt_v16 is a struct of native vectors. Each instruction set gives one section with the same functions, from
 * rt_load to rt_scale2; everything below the sections is one text for all. Another instruction set is another
 * section and a row of tile sizes. There are no alignment demands: a load or a store takes any float pointer.
 * RT_PORTABLE asks for the portable section, whatever the compiler knows of the machine.
 *
 * Compile with -ffp-contract=off. Within one instruction set every compiler then computes the same bits, for only
 * rt_fma fuses. This file and the kernels may be pasted one after the other into one header, without their
 * #include "..." lines. */
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

/* How a kernel is defined: with external linkage, unless a pasting header wants `static inline`. */
#ifndef RT_KERNEL
#define RT_KERNEL
#endif

/* RT_APART: long, and called for sixteen numbers at least; copies of it would only take room and time to compile. */
#if defined(__clang__)
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

/* Bring a line of memory near: into all caches, or into the second, for later. Nothing where there is no way to ask for it. */
#if defined(__GNUC__)
RT_INLINE void rt_prefetch(const void *p) { __builtin_prefetch(p); }
RT_INLINE void rt_prefetch_later(const void *p) { __builtin_prefetch(p, 0, 1); }
#else
RT_INLINE void rt_prefetch(const void *p) { (void)p; }
RT_INLINE void rt_prefetch_later(const void *p) { (void)p; }
#endif

/* Of rt_tile.h: RT_TILE_ROWS x RT_TILE_PANELS sums stay in registers, or those of a wide tile; one row alone takes RT_ROW_PANELS panels
 * abreast. */

#if defined(__AVX512F__) && !defined(RT_PORTABLE)
/* ---- AVX-512: one vector -------------------------------------------------------------------------------- */

enum { RT_TILE_ROWS = 14, RT_TILE_PANELS = 2, RT_ROW_PANELS = 8 };      /* 28 sums, 2 weights, 1 input of 32 */
enum { RT_WIDE_ROWS = 8, RT_WIDE_PANELS = 3 };                          /* 24, 3, 1 */
typedef struct rt_v16 { __m512 v; } rt_v16;
#define RT_ONE_VECTOR

RT_INLINE rt_v16 rt_of(__m512 v) { rt_v16 r; r.v = v; return r; }
RT_INLINE __mmask16 rt_mask_n(int n) { return (__mmask16)((1u << n) - 1); }

RT_INLINE rt_v16 rt_load(const float *p) { return rt_of(_mm512_loadu_ps(p)); }
RT_INLINE void rt_store(float *p, rt_v16 a) { _mm512_storeu_ps(p, a.v); }
RT_INLINE rt_v16 rt_load_n(const float *p, int n) { return rt_of(_mm512_maskz_loadu_ps(rt_mask_n(n), p)); }
RT_INLINE void rt_store_n(float *p, rt_v16 a, int n) { _mm512_mask_storeu_ps(p, rt_mask_n(n), a.v); }
RT_INLINE rt_v16 rt_set1(float x) { return rt_of(_mm512_set1_ps(x)); }
RT_INLINE rt_v16 rt_add(rt_v16 a, rt_v16 b) { return rt_of(_mm512_add_ps(a.v, b.v)); }
RT_INLINE rt_v16 rt_sub(rt_v16 a, rt_v16 b) { return rt_of(_mm512_sub_ps(a.v, b.v)); }
RT_INLINE rt_v16 rt_mul(rt_v16 a, rt_v16 b) { return rt_of(_mm512_mul_ps(a.v, b.v)); }
RT_INLINE rt_v16 rt_div(rt_v16 a, rt_v16 b) { return rt_of(_mm512_div_ps(a.v, b.v)); }
RT_INLINE rt_v16 rt_max(rt_v16 a, rt_v16 b) { return rt_of(_mm512_max_ps(a.v, b.v)); }
RT_INLINE rt_v16 rt_min(rt_v16 a, rt_v16 b) { return rt_of(_mm512_min_ps(a.v, b.v)); }
RT_INLINE rt_v16 rt_fma(rt_v16 a, rt_v16 b, rt_v16 c) { return rt_of(_mm512_fmadd_ps(a.v, b.v, c.v)); }

RT_INLINE rt_v16 rt_first_n(rt_v16 a, int n, rt_v16 rest)
{
    return rt_of(_mm512_mask_mov_ps(rest.v, rt_mask_n(n), a.v));
}

RT_INLINE rt_v16 rt_if_less(rt_v16 a, rt_v16 b, rt_v16 yes, rt_v16 no)
{
    return rt_of(_mm512_mask_mov_ps(no.v, _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), yes.v));
}

RT_INLINE rt_v16 rt_scale2(rt_v16 a, rt_v16 n) { return rt_of(_mm512_scalef_ps(a.v, n.v)); }

RT_INLINE rt_v16 rt_load_bf16(const void *p)
{
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return rt_of(_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16)));
}

RT_INLINE __m256 rt_upper_half(rt_v16 a)
{
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1));
}

RT_INLINE float rt_sum(rt_v16 a)
{
    __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a.v), rt_upper_half(a));
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}

RT_INLINE float rt_max_of(rt_v16 a)
{
    __m256 b = _mm256_max_ps(_mm512_castps512_ps256(a.v), rt_upper_half(a));
    __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_max_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_shuffle_ps(c, c, 1)));
}

#elif defined(__AVX2__) && defined(__FMA__) && !defined(RT_PORTABLE)
/* ---- AVX2: two vectors ---------------------------------------------------------------------------------- */

enum { RT_TILE_ROWS = 6, RT_TILE_PANELS = 1, RT_ROW_PANELS = 6 };       /* 12 sums, 2 weights, 1 input of 16 */
enum { RT_WIDE_ROWS = 2, RT_WIDE_PANELS = 2 };                          /* 8, 4, 1 */
typedef struct rt_v16 { __m256 low, high; } rt_v16;

RT_INLINE rt_v16 rt_of(__m256 low, __m256 high) { rt_v16 r; r.low = low, r.high = high; return r; }
/* All ones in the lanes below n; n may be negative or more than 8. */
RT_INLINE __m256i rt_mask_n(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

RT_INLINE rt_v16 rt_load(const float *p) { return rt_of(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)); }
RT_INLINE void rt_store(float *p, rt_v16 a) { _mm256_storeu_ps(p, a.low), _mm256_storeu_ps(p + 8, a.high); }

RT_INLINE rt_v16 rt_load_n(const float *p, int n)
{
    if (n == 16) return rt_load(p);
    return rt_of(_mm256_maskload_ps(p, rt_mask_n(n)), _mm256_maskload_ps(p + 8, rt_mask_n(n - 8)));
}

RT_INLINE void rt_store_n(float *p, rt_v16 a, int n)
{
    if (n == 16) rt_store(p, a);
    else _mm256_maskstore_ps(p, rt_mask_n(n), a.low), _mm256_maskstore_ps(p + 8, rt_mask_n(n - 8), a.high);
}

RT_INLINE rt_v16 rt_set1(float x) { return rt_of(_mm256_set1_ps(x), _mm256_set1_ps(x)); }
RT_INLINE rt_v16 rt_add(rt_v16 a, rt_v16 b) { return rt_of(_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)); }
RT_INLINE rt_v16 rt_sub(rt_v16 a, rt_v16 b) { return rt_of(_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)); }
RT_INLINE rt_v16 rt_mul(rt_v16 a, rt_v16 b) { return rt_of(_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)); }
RT_INLINE rt_v16 rt_div(rt_v16 a, rt_v16 b) { return rt_of(_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)); }
RT_INLINE rt_v16 rt_max(rt_v16 a, rt_v16 b) { return rt_of(_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)); }
RT_INLINE rt_v16 rt_min(rt_v16 a, rt_v16 b) { return rt_of(_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)); }

RT_INLINE rt_v16 rt_fma(rt_v16 a, rt_v16 b, rt_v16 c)
{
    return rt_of(_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high));
}

RT_INLINE rt_v16 rt_first_n(rt_v16 a, int n, rt_v16 rest)
{
    return rt_of(_mm256_blendv_ps(rest.low, a.low, _mm256_castsi256_ps(rt_mask_n(n))),
                 _mm256_blendv_ps(rest.high, a.high, _mm256_castsi256_ps(rt_mask_n(n - 8))));
}

RT_INLINE rt_v16 rt_if_less(rt_v16 a, rt_v16 b, rt_v16 yes, rt_v16 no)
{
    return rt_of(_mm256_blendv_ps(no.low, yes.low, _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ)),
                 _mm256_blendv_ps(no.high, yes.high, _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ)));
}

/* In two factors, the first exact: 2^128 is not a float. */
RT_INLINE __m256 rt_scale2_half(__m256 a, __m256 n)
{
    const __m256i all = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(all, 1), one = _mm256_set1_epi32(127);
    const __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, one), 23);
    const __m256i second = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(all, half), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(a, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(second));
}

RT_INLINE rt_v16 rt_scale2(rt_v16 a, rt_v16 n) { return rt_of(rt_scale2_half(a.low, n.low), rt_scale2_half(a.high, n.high)); }

RT_INLINE __m256 rt_load_bf16_half(const __m128i *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16));
}

RT_INLINE rt_v16 rt_load_bf16(const void *p)
{
    return rt_of(rt_load_bf16_half((const __m128i *)p), rt_load_bf16_half((const __m128i *)p + 1));
}

RT_INLINE float rt_sum(rt_v16 a)
{
    __m256 b = _mm256_add_ps(a.low, a.high);
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}

RT_INLINE float rt_max_of(rt_v16 a)
{
    __m256 b = _mm256_max_ps(a.low, a.high);
    __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    c = _mm_max_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_shuffle_ps(c, c, 1)));
}

#else
/* ---- portable: C11 without a fused multiply-add; NEON: the same with one ---------------------------------- *
 * Compilers that know vectors of 128 bits on a machine that has them get four of those, others sixteen floats; the
 * arithmetic is written the same way and, but for rt_fma, gives the same bits. (gcc turns sixteen floats in a struct into
 * slow code.) */

#if (defined(__SSE2__) || defined(__ARM_NEON)) && !defined(RT_PLAIN_C)
typedef float rt_part __attribute__((vector_size(16)));
typedef uint32_t rt_bits __attribute__((vector_size(16)));
RT_INLINE rt_bits rt_less(rt_part a, rt_part b) { return (rt_bits)(a < b); }        /* all ones where a < b */
#else
typedef float rt_part;
typedef uint32_t rt_bits;
RT_INLINE rt_bits rt_less(rt_part a, rt_part b) { return a < b ? 0xffffffffu : 0; }
#endif
enum { RT_PARTS = 64 / sizeof(rt_part) };
#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(RT_PORTABLE) && !defined(RT_PLAIN_C)
enum { RT_TILE_ROWS = 6, RT_TILE_PANELS = 1, RT_ROW_PANELS = 4 };       /* 24 sums, 4 weights, 1 input of 32 */
enum { RT_WIDE_ROWS = 2, RT_WIDE_PANELS = 2 };                          /* 16, 8, 1 */
RT_INLINE rt_part rt_fma_part(rt_part a, rt_part b, rt_part c) { return (rt_part)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
enum { RT_TILE_ROWS = 2, RT_TILE_PANELS = 1, RT_ROW_PANELS = 2 };       /* 8 sums of 4 floats, of 16 registers */
enum { RT_WIDE_ROWS = 1, RT_WIDE_PANELS = 2 };
RT_INLINE rt_part rt_fma_part(rt_part a, rt_part b, rt_part c) { return a * b + c; }
#endif
typedef struct rt_v16 { rt_part v[RT_PARTS]; } rt_v16;
typedef struct rt_lanes { float f[16]; } rt_lanes;

#define RT_EACH_PART RT_UNROLL for (int i = 0; i < RT_PARTS; i++)
#define RT_EACH_LANE for (int i = 0; i < 16; i++)

RT_INLINE rt_part rt_load_part(const float *p) { rt_part r; memcpy(&r, p, sizeof r); return r; }

/* Part by part: gcc would copy a whole struct through the stack. */
RT_INLINE rt_v16 rt_load(const float *p)
{
    rt_v16 r;
    RT_EACH_PART r.v[i] = rt_load_part(p + 16 / RT_PARTS * i);
    return r;
}

RT_INLINE void rt_store(float *p, rt_v16 a)
{
    RT_EACH_PART memcpy(p + 16 / RT_PARTS * i, &a.v[i], sizeof a.v[i]);
}

RT_INLINE rt_lanes rt_lanes_of(rt_v16 a) { rt_lanes r; memcpy(&r, &a, sizeof r); return r; }
RT_INLINE rt_v16 rt_of_lanes(rt_lanes a) { rt_v16 r; memcpy(&r, &a, sizeof r); return r; }

RT_INLINE rt_v16 rt_load_n(const float *p, int n)
{
    rt_lanes r;
    if (n == 16) return rt_load(p);
    RT_EACH_LANE r.f[i] = i < n ? p[i] : 0;
    return rt_of_lanes(r);
}

RT_INLINE void rt_store_n(float *p, rt_v16 a, int n)
{
    rt_lanes x = rt_lanes_of(a);
    if (n == 16) rt_store(p, a);
    else for (int i = 0; i < n; i++)
        p[i] = x.f[i];
}

RT_INLINE rt_v16 rt_set1(float x) { rt_v16 r; RT_EACH_PART r.v[i] = x - (rt_part){0}; return r; }
RT_INLINE rt_v16 rt_add(rt_v16 a, rt_v16 b) { RT_EACH_PART a.v[i] = a.v[i] + b.v[i]; return a; }
RT_INLINE rt_v16 rt_sub(rt_v16 a, rt_v16 b) { RT_EACH_PART a.v[i] = a.v[i] - b.v[i]; return a; }
RT_INLINE rt_v16 rt_mul(rt_v16 a, rt_v16 b) { RT_EACH_PART a.v[i] = a.v[i] * b.v[i]; return a; }
RT_INLINE rt_v16 rt_div(rt_v16 a, rt_v16 b) { RT_EACH_PART a.v[i] = a.v[i] / b.v[i]; return a; }
RT_INLINE rt_v16 rt_fma(rt_v16 a, rt_v16 b, rt_v16 c) { RT_EACH_PART a.v[i] = rt_fma_part(a.v[i], b.v[i], c.v[i]); return a; }

RT_INLINE rt_v16 rt_first_n(rt_v16 a, int n, rt_v16 rest)
{
    rt_lanes x = rt_lanes_of(a), y = rt_lanes_of(rest);
    RT_EACH_LANE x.f[i] = i < n ? x.f[i] : y.f[i];
    return rt_of_lanes(x);
}

RT_INLINE rt_bits rt_bits_of(rt_part a) { rt_bits r; memcpy(&r, &a, sizeof r); return r; }
RT_INLINE rt_part rt_of_bits(rt_bits a) { rt_part r; memcpy(&r, &a, sizeof r); return r; }

RT_INLINE rt_v16 rt_if_less(rt_v16 a, rt_v16 b, rt_v16 yes, rt_v16 no)
{
    RT_EACH_PART {
        const rt_bits less = rt_less(a.v[i], b.v[i]);
        a.v[i] = rt_of_bits((less & rt_bits_of(yes.v[i])) | (~less & rt_bits_of(no.v[i])));
    }
    return a;
}

#if defined(__SSE__) && !defined(RT_PLAIN_C)        /* b where either is NaN, in one instruction */
RT_INLINE rt_part rt_max_part(rt_part a, rt_part b) { return (rt_part)_mm_max_ps((__m128)a, (__m128)b); }
RT_INLINE rt_part rt_min_part(rt_part a, rt_part b) { return (rt_part)_mm_min_ps((__m128)a, (__m128)b); }
#else
RT_INLINE rt_part rt_max_part(rt_part a, rt_part b)
{
    const rt_bits less = rt_less(b, a);
    return rt_of_bits((less & rt_bits_of(a)) | (~less & rt_bits_of(b)));
}

RT_INLINE rt_part rt_min_part(rt_part a, rt_part b)
{
    const rt_bits less = rt_less(a, b);
    return rt_of_bits((less & rt_bits_of(a)) | (~less & rt_bits_of(b)));
}
#endif
RT_INLINE rt_v16 rt_max(rt_v16 a, rt_v16 b) { RT_EACH_PART a.v[i] = rt_max_part(a.v[i], b.v[i]); return a; }
RT_INLINE rt_v16 rt_min(rt_v16 a, rt_v16 b) { RT_EACH_PART a.v[i] = rt_min_part(a.v[i], b.v[i]); return a; }

/* In two factors, the first exact: 2^128 is not a float. The sum puts the integer n into the lowest bits. */
RT_INLINE rt_v16 rt_scale2(rt_v16 a, rt_v16 n)
{
    RT_EACH_PART {
        const rt_bits bits = rt_bits_of(n.v[i] + 12582912.0f) - 0x4b400000u;
        const rt_bits half = (bits >> 1) | (bits & 0x80000000u);
        a.v[i] = a.v[i] * rt_of_bits((half + 127u) << 23) * rt_of_bits((bits - half + 127u) << 23);
    }
    return a;
}

RT_INLINE rt_v16 rt_load_bf16(const void *p)
{
    rt_v16 r;
#if defined(__SSE2__) && !defined(RT_PLAIN_C)
    RT_EACH_PART r.v[i] = (rt_part)_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)((const uint8_t *)p + 8 * i)));
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(RT_PLAIN_C)
    RT_EACH_PART {
        const uint16x4_t half = vld1_u16((const uint16_t *)p + 4 * i);
        r.v[i] = (rt_part)vzip1q_u16(vdupq_n_u16(0), vcombine_u16(half, half));
    }
#else
    uint16_t half[16];
    uint32_t bits[16];
    memcpy(half, p, sizeof half);
    RT_EACH_LANE bits[i] = (uint32_t)half[i] << 16;
    memcpy(&r, bits, sizeof bits);
#endif
    return r;
}

/* Parts first, then what one part holds. */
RT_INLINE float rt_sum(rt_v16 a)
{
    float f[4];
    RT_UNROLL for (int half = RT_PARTS / 2; half; half /= 2)
        RT_UNROLL for (int i = 0; i < half; i++)
            a.v[i] = a.v[i] + a.v[i + half];
    memcpy(f, &a, sizeof f);
    return RT_PARTS == 16 ? f[0] : f[0] + f[2] + (f[1] + f[3]);
}

RT_INLINE float rt_max_of(rt_v16 a)
{
    float f[4];
    RT_UNROLL for (int half = RT_PARTS / 2; half; half /= 2)
        RT_UNROLL for (int i = 0; i < half; i++)
            a.v[i] = rt_max_part(a.v[i], a.v[i + half]);
    memcpy(f, &a, sizeof f);
    if (RT_PARTS == 16) return f[0];
    const float even = f[0] > f[2] ? f[0] : f[2], odd = f[1] > f[3] ? f[1] : f[3];
    return even > odd ? even : odd;
}

#undef RT_EACH_PART
#undef RT_EACH_LANE
#endif

/* What the sections promise, where the names do not say it:
 * rt_load_bf16            sixteen numbers of 16 bits, each the upper half of a float
 * rt_load_n, rt_store_n   the first n of 0..16 lanes; the others are 0, or stay untouched, and are not accessed
 * rt_first_n              lanes below n of a, the others of rest
 * rt_max, rt_min          b where either operand is NaN
 * rt_if_less              yes where a < b, else no (also where either is NaN)
 * rt_scale2               a * 2^n for integers n of -126..128, rounded once
 * rt_sum, rt_max_of       lanes i and i+8, then i+4, i+2, i+1 */

RT_INLINE rt_v16 rt_keep_n(rt_v16 a, int n) { return rt_first_n(a, n, rt_set1(0)); }
/* Lanes of the group of sixteen that starts at column i of `width`. */
RT_INLINE int rt_lanes_at(int width, int i) { return width - i < 16 ? width - i : 16; }

/* ---- functions ------------------------------------------------------------------------------------------ */

/* exp(x), within 1.02 ulp. 0 below -87.33654 (where the result would be denormal) and for -inf, inf above 88.72283,
 * NaN for NaN. x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite, ln 2 in two parts), exp(r) by the polynomial of
 * Cephes expf. Adding 1.5 * 2^23 rounds to the nearest integer. */
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

/* log(x) of one positive normal float, within 1 ulp; the polynomial of Cephes logf. */
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

/* tanh(x), within 1.3 ulp; +-1 for +-inf, NaN for NaN. Near 0, where 1 - 2 / (e^2x + 1) would cancel, the polynomial of
 * Cephes tanhf. */
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

/* erfc(t / sqrt(2)) / 2, the tail of the normal distribution behind t, for 0 <= t <= 15: exp(-t^2 / 2) P(v) with
 * v = t / (t + 3); P is a minimax fit of relative error 1.1e-8 that gives 1/2 at 0. Its error is below 2^-24, and as a
 * share of the result that of t^2 / 2, rounded. */
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

/* x / (1 + exp(-s)); 0 where s is -inf, x = -inf included. */
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

/* One vector is handed over in a register. Several are not, and gcc copies a struct of them in pieces that the processor cannot
 * forward (silu of AVX2 took three times as long), so these go by way of memory. */
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

/* 1 + tanh(u) = 2 sigmoid(2u), so this is x sigmoid(x (a + b x^2)) with a = sqrt(8 / pi), b = 0.044715 a. */
RT_INLINE rt_v16 rt_gelu_tanh(rt_v16 x)
{
    return rt_times_sigmoid(x, rt_mul(x, rt_fma(rt_set1(7.13548163e-2f), rt_mul(x, x), rt_set1(1.59576912f))));
}

/* tanh is within 1.3 ulp, sigmoid within 2.5 (0 below -88.7), the gelus and silu within 2^-23 |x| of the exact number
 * and for x >= -1 within 3 ulp. NaN for NaN only; at -inf the gelus and silu are 0. */
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

/* Activate the first `columns` of each of `rows`, in place. */
RT_APART void rt_activate_rows(RtActivation kind, float *y, size_t stride, int rows, int columns)
{
    for (int r = 0; r < rows; r++, y += stride)
        for (int i = 0; i < columns; i += 16) {
            const int n = rt_lanes_at(columns, i);
            rt_store_n(y + i, rt_activate(kind, rt_load_n(y + i, n)), n);
        }
}

#endif
