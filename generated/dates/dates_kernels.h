/* dates_kernels.h: what dates.c computes with.
 * The library's kernels, then one function per distinct shape: with its constants in sight the compiler unrolls
 * and folds. The text is the same for every instruction set; the compiler's flags choose. */
#ifndef DATES_KERNELS_H
#define DATES_KERNELS_H

#include "dates.h"

#define RT_KERNEL RT_INLINE

/* rt_simd.h: sixteen floats at a time. rt_tile.h has the register tile that matrix products are made of.
 *
 * rt_v16 is a struct of native vectors. Each instruction set has a file in simd/, whose first section has the same
 * functions, from rt_load to rt_max_of, and tile sizes; everything behind is one text for all. Another instruction
 * set is a row of instruction_sets.def and a file. There are no alignment demands: a load or a store takes any float pointer.
 * RT_PORTABLE asks for the portable section, whatever the compiler knows of the machine.
 *
 * Compile with -ffp-contract=off. Within one instruction set every compiler then computes the same bits, for only
 * rt_fma fuses. This file and the kernels may be pasted one after the other into one header, without their
 * #include "..." lines. */
#ifndef RT_SIMD_H
#define RT_SIMD_H

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

/* RT_APART: long, and called for sixteen numbers at least; copies of it would only take room and time to compile.
 * RT_DEBUG: functions stay functions, to step into. Without optimisation the copies that are otherwise made of them for each
 * shape would take minutes to compile. */
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

/* The section of one instruction set. */
#if !defined(RT_HAS_FLOATS) && defined(__AVX512F__) && !defined(RT_PORTABLE)
#define RT_HAS_FLOATS
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
#endif

#if !defined(RT_HAS_FLOATS) && defined(__AVX2__) && defined(__FMA__) && !defined(RT_PORTABLE)
#define RT_HAS_FLOATS
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
#endif

#if !defined(RT_HAS_FMA) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(RT_PORTABLE) && !defined(RT_PLAIN_C)
#define RT_HAS_FMA
/* ---- NEON: the portable section with a fused multiply-add ------------------------------------------------ */

enum { RT_TILE_ROWS = 6, RT_TILE_PANELS = 1, RT_ROW_PANELS = 4 };       /* 24 sums, 4 weights, 1 input of 32 */
enum { RT_WIDE_ROWS = 2, RT_WIDE_PANELS = 2 };                          /* 16, 8, 1 */
#define RT_FMA_PART(a, b, c) (rt_part)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#endif

#if !defined(RT_HAS_FLOATS)
#define RT_HAS_FLOATS
/* ---- portable: C11 without a fused multiply-add, but where neon.h gives one ------------------------------- *
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
#ifdef RT_FMA_PART
RT_INLINE rt_part rt_fma_part(rt_part a, rt_part b, rt_part c) { return RT_FMA_PART(a, b, c); }
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
    case RT_IDENTITY: return x;
    case RT_RELU: return rt_max(rt_set1(0), x);
    case RT_GELU: return rt_gelu(x);
    case RT_GELU_TANH: return rt_gelu_tanh(x);
    case RT_QUICK_GELU: return rt_times_sigmoid(x, rt_mul(rt_set1(1.702f), x));
    case RT_SILU: return rt_times_sigmoid(x, x);
    case RT_TANH: return rt_tanh(x);
    case RT_SIGMOID: return rt_times_sigmoid(rt_set1(1), x);
    case RT_RELU2: return rt_mul(rt_max(rt_set1(0), x), rt_max(rt_set1(0), x));
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

/* rt_tile.h: the register tile that every matrix product is made of.
 *
 * y[r][16p + l] = activation(start + sum over i of x[r][i] * w[p][i][l])
 * One sum per element, i ascending, whatever the tile: an element's bits depend on neither rows nor panels nor on
 * how i is cut into pieces. w: panels of [in][16] weights, f32 or, with a function's `format`, what is widened to f32 when it is
 * loaded; they stand `w_panel` floats apart. `start` is 0, the [16] floats before each panel's weights, or what y holds. Of the last
 * panel `last` columns are stored. y overlaps neither x nor w. */
#ifndef RT_TILE_H
#define RT_TILE_H


/* A format of weights, a literal of every caller: bf16 is the upper half of an f32. */
typedef enum RtFormat { RT_F32, RT_BF16, RT_F16 } RtFormat;
/* Sixteen weights as floats, and the floats that they take up. */
RT_INLINE rt_v16 rt_load_as(const float *w, const RtFormat format)
{
#ifdef RT_SIMD_F16_H
    if (format == RT_F16) return rt_load_f16(w);
#endif
    return format == RT_BF16 ? rt_load_bf16(w) : rt_load(w);
}

/* Sixteen floats as f32 or f16. */
RT_INLINE void rt_store_as(float *to, rt_v16 x, const RtFormat format)
{
#ifdef RT_SIMD_F16_H
    if (format == RT_F16) {
        rt_store_f16(to, x);
        return;
    }
#endif
    (void)format;
    rt_store(to, x);
}

RT_INLINE int rt_row_floats(const RtFormat format) { return format == RT_F32 ? 16 : 8; }

typedef enum RtStart { RT_FROM_ZERO, RT_FROM_BIAS, RT_FROM_Y } RtStart;
typedef struct RtTile {
    float *y;
    const float *x, *w;
    size_t y_stride, x_stride, w_panel;
    int in, last, one_stream, wide;
    RtStart start;
    RtActivation activation;
    const float *add;               /* NULL, or what one row is added to at the end, `add_last` columns of its last panel */
    int add_last;
    int cached;                     /* weights that a cache holds, a literal of the caller: what makes tiles fast with others is left out */
    int tile, tiles;                /* this is one of `tiles` full tiles of rows that read these weights in turn, or 0 */
} RtTile;

RT_INLINE rt_v16 rt_tile_start(const RtTile *t, int r, int p, int lanes)
{
    switch (t->start) {
    case RT_FROM_BIAS: return rt_load(t->w + (size_t)p * t->w_panel - 16);
    case RT_FROM_Y: return rt_load_n(t->y + (size_t)r * t->y_stride + 16 * p, lanes);
    case RT_FROM_ZERO: break;
    }
    return rt_set1(0);
}

/* What follows the sums of a tile: y = activation(sum), or add + that; of the last panel `last` columns are stored and `add_last`
 * read. add: NULL, or one row. */
RT_INLINE void rt_tile_end(const rt_v16 *sum, float *y, size_t y_stride, const int rows, const int panels, int last,
                           RtActivation activation, const float *add, int add_last)
{
    RT_UNROLL for (int r = 0; r < rows; r++)
        RT_UNROLL for (int p = 0; p < panels; p++) {
            float *to = y + (size_t)r * y_stride + 16 * p;
            rt_v16 v = sum[r * panels + p];
            if (activation == RT_RELU) v = rt_activate(RT_RELU, v);
            if (add) v = rt_add(rt_load_n(add + 16 * p, p == panels - 1 ? add_last : 16), v);
            if (p < panels - 1 || last == 16) rt_store(to, v);
            else rt_store_n(to, v, last);
        }
    if (activation != RT_IDENTITY && activation != RT_RELU) rt_activate_rows(activation, y, y_stride, rows, 16 * (panels - 1) + last);
}

/* One input of all rows: the k-th behind `x` and `w`, which point to every third row and every third panel, so that one stride in a
 * register, once and twice, reaches the two between. With one pointer gcc keeps the multiples of a stride that is not a constant in
 * memory: the gate of a row took a fifth longer. */
RT_INLINE void rt_tile_step(rt_v16 *sum, const RtTile *t, const float *const *x, const float *const *w, const int k, const int rows,
                            const int panels, const RtFormat format)
{
    rt_v16 weights[RT_ROW_PANELS];
    RT_UNROLL for (int p = 0; p < panels; p++)
        weights[p] = rt_load_as(w[p / 3] + (size_t)(p % 3) * t->w_panel + k * rt_row_floats(format), format);
    RT_UNROLL for (int r = 0; r < rows; r++) {
        const rt_v16 input = rt_set1(x[r / 3][(size_t)(r % 3) * t->x_stride + k]);
        RT_UNROLL for (int p = 0; p < panels; p++)
            sum[r * panels + p] = rt_fma(input, weights[p], sum[r * panels + p]);
    }
}

#define RT_MORE(a, b) ((a) > (b) ? (a) : (b))
enum { RT_MOST_SUMS = RT_MORE(RT_MORE(RT_TILE_ROWS * RT_TILE_PANELS, RT_WIDE_ROWS * RT_WIDE_PANELS), RT_ROW_PANELS) };

/* The full tiles of many rows ask for the panels behind theirs, each for its part of them, so that these are in the second-level cache
 * when their turn comes: 128 rows times weights that no cache holds, 102 for 95 GFLOP/s, from a cache as fast as without (512 x 1536 to
 * 2048 x 512 on a Zen 4). Parts, and two inputs in a turn of the loop, are worth a tenth on a Sapphire Rapids, where every tile asking for all
 * of them is more than its memory answers, and the other thread of a core takes half of what is decoded: 136 for 123.
 *
 * rows, panels, format and full are literals of the caller; partial says that the tile's last panel is the matrix's last. */
RT_INLINE void rt_tile(RtTile t, const int rows, const int panels, const RtFormat format, int partial, const int full)
{
    enum { INPUTS = 2, ROW_POINTERS = (RT_TILE_ROWS + 2) / 3, PANEL_POINTERS = (RT_ROW_PANELS + 2) / 3 };
    rt_v16 sum[RT_MOST_SUMS];
    const float *x[ROW_POINTERS], *w[PANEL_POINTERS];
    const int last = partial ? t.last : 16, row = rt_row_floats(format);

    RT_UNROLL for (int r = 0; r < rows; r++)
        RT_UNROLL for (int p = 0; p < panels; p++)
            sum[r * panels + p] = rt_tile_start(&t, r, p, p == panels - 1 ? last : 16);
    RT_UNROLL for (int k = 0; 3 * k < rows; k++) x[k] = t.x + 3 * (size_t)k * t.x_stride;
    RT_UNROLL for (int k = 0; 3 * k < panels; k++) w[k] = t.w + 3 * (size_t)k * t.w_panel;
#define RT_INPUTS(n) do { \
        RT_UNROLL for (int k = 0; k < (n); k++) rt_tile_step(sum, &t, x, w, k, rows, panels, format); \
        RT_UNROLL for (int k = 0; 3 * k < rows; k++) x[k] += (n); \
        RT_UNROLL for (int k = 0; 3 * k < panels; k++) w[k] += (n) * row; } while (0)
    const int inputs = full ? INPUTS : 1;
    const size_t step = full && t.tiles > 1 ? sizeof(float) * (size_t)row / (size_t)t.tiles : 0;
    const char *ahead = (const char *)(t.w + (size_t)panels * t.w_panel) + (size_t)(t.tile * t.in) * step;
    int left = t.in;
    for (; left >= inputs; left -= inputs, ahead += INPUTS * step) {
        if (full)
            RT_UNROLL for (int p = 0; p < panels; p++) rt_prefetch_later(ahead + (size_t)p * t.w_panel * sizeof(float));
        RT_INPUTS(inputs);
    }
    if (full && left > 0) RT_INPUTS(1);
#undef RT_INPUTS
    rt_tile_end(sum, t.y, t.y_stride, rows, panels, last, t.activation, t.add, partial ? t.add_last : 16);
}

/* Any number of rows of `panels` abreast: tiles of `most`, full ones if these are what the caller cuts into, then of 8, 4, 2 and 1 rows. */
RT_INLINE void rt_tile_rows(RtTile t, int rows, const int most, const int panels, const RtFormat format, int partial, const int full)
{
#define RT_ROWS(n, full) { \
        rt_tile(t, n, panels, format, partial, full); \
        t.x += n * t.x_stride, t.y += n * t.y_stride, t.tile++, rows -= n; }
    while (rows >= most) RT_ROWS(most, full)
    if (most > 8 && rows >= 8) RT_ROWS(8, 0)
    if (most > 4 && rows >= 4) RT_ROWS(4, 0)
    if (most > 2 && rows >= 2) RT_ROWS(2, 0)
    if (most > 1 && rows >= 1) RT_ROWS(1, 0)
#undef RT_ROWS
}

/* One row: as many panels abreast as hide the latency of the multiply-add. Each panel is then a stream through memory, and a
 * processor fetches one stream ahead better than eight: weights that no cache holds take a fifth less time panel by panel
 * (61 MB in pages of 2 MB on a Zen 4 with 32 MB of cache: 27 for 22 GB/s). From pages of 4 KB, where a stream ends at each page's
 * end, it is a quarter slower (13 for 18), so rt_weights.c reads files into large ones; and so it is from a cache (60 for 74). */
RT_INLINE void rt_tile_one_row_of(RtTile t, int panels, const RtFormat format)
{
#define RT_PANELS(n) { \
        panels -= n; \
        rt_tile(t, 1, n, format, panels == 0, 0); \
        t.w += n * t.w_panel, t.y += 16 * n; \
        if (t.add) t.add += 16 * n; }
    while (t.one_stream && panels >= 1) RT_PANELS(1)
    while (panels >= RT_ROW_PANELS) RT_PANELS(RT_ROW_PANELS)
    if (RT_ROW_PANELS > 4 && panels >= 4) RT_PANELS(4)
    if (RT_ROW_PANELS > 2 && panels >= 2) RT_PANELS(2)
    if (RT_ROW_PANELS > 1 && panels >= 1) RT_PANELS(1)
#undef RT_PANELS
}

/* Many rows and panels, in tiles of `most` x `abreast`; panels that are left over, one by one: eight sums hide the latencies, and another
 * tile would only be more code. */
enum { RT_SINGLE_ROWS = RT_TILE_ROWS < 8 ? RT_TILE_ROWS : 8 };
RT_INLINE void rt_tile_many(RtTile t, int rows, int panels, const int most, const int abreast, const RtFormat format)
{
    for (; panels >= abreast; t.w += (size_t)abreast * t.w_panel, t.y += 16 * abreast) {
        panels -= abreast;
        rt_tile_rows(t, rows, most, abreast, format, panels == 0, !t.cached);
    }
    if (abreast == 1) return;
    for (; panels > 0; t.w += t.w_panel, t.y += 16) rt_tile_rows(t, rows, RT_SINGLE_ROWS, 1, format, --panels == 0, 0);
}

/* The product of any number of rows and panels. */
RT_INLINE void rt_tile_all_of(RtTile t, int rows, int panels, const RtFormat format)
{
    if (rows == 1) rt_tile_one_row_of(t, panels, format);
    else if (t.wide) rt_tile_many(t, rows, panels, RT_WIDE_ROWS, RT_WIDE_PANELS, format);
    else rt_tile_many(t, rows, panels, RT_TILE_ROWS, RT_TILE_PANELS, format);
}

RT_INLINE void rt_tile_one_row(RtTile t, int panels) { rt_tile_one_row_of(t, panels, RT_F32); }
RT_INLINE void rt_tile_all(RtTile t, int rows, int panels) { rt_tile_all_of(t, rows, panels, RT_F32); }

#endif

/* embed_f32.c: rows of a table, by token or by position. Ids and positions were checked by the caller.
 * Padding columns of y become zeros. In rt_position_f32 x has the stride of y and may be y. */

RT_KERNEL void rt_embed_f32(const RtEmbed *shape, float *y, const void *table, const int *ids, int rows)
{
    const int width = shape->width, padded = (width + 15) & ~15;
    const rt_v16 scale = rt_set1(shape->scale);
    for (int r = 0; r < rows; r++, y += shape->y_stride) {
        const float *row = (const float *)table + (size_t)ids[r] * (size_t)padded;
        for (int i = 0; i < width; i += 16)
            rt_store(y + i, rt_keep_n(rt_mul(scale, rt_load(row + i)), rt_lanes_at(width, i)));
    }
}

/* y[r] = x[r] + scale * table[positions[r]] */
RT_KERNEL void rt_position_f32(const RtEmbed *shape, float *y, const float *x, const void *table,
                               const int *positions, int rows)
{
    const int width = shape->width, padded = (width + 15) & ~15;
    const rt_v16 scale = rt_set1(shape->scale);
    for (int r = 0; r < rows; r++, x += shape->y_stride, y += shape->y_stride) {
        const float *row = (const float *)table + (size_t)positions[r] * (size_t)padded;
        for (int i = 0; i < width; i += 16) {
            const int n = rt_lanes_at(width, i);
            rt_store(y + i, rt_keep_n(rt_fma(scale, rt_load(row + i), rt_load_n(x + i, n)), n));
        }
    }
}

/* norm_f32.c: the three layer norms, of a row or of each head of a row.
 * Two passes, mean first, then squares of differences: the one-pass formula loses the variance of a row far from 0.
 * Padding columns of the row become zeros. y may be x. Whole groups of sixteen come first: with one loop for all, whose last
 * turn is masked, gcc takes a fifth longer than clang. */

static inline float rt_norm_mean(const float *x, int width)
{
    rt_v16 sum = rt_set1(0);
    int i = 0;
    for (; i <= width - 16; i += 16)
        sum = rt_add(sum, rt_load(x + i));
    if (i < width) sum = rt_add(sum, rt_load_n(x + i, width - i));
    return rt_sum(sum) / (float)width;
}

/* The sum over the row of (x - mean)^2. */
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

/* What a row is multiplied by. ANNOTATED divides by width - 1: the compiler refuses width 1. */
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

/* One head: `width` columns of y, and nothing behind them. */
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

/* rt_linear.h: linears over panels of sixteen outputs, whatever their weights are widened from; the kernels of kernels/linear_f32.c
 * and linear_bf16.c are these functions with a format.
 * One row and many rows sum every element in the same order (see rt_tile.h), so the number of rows, their
 * split over threads and the split of the panels change no bit. */
#ifndef RT_LINEAR_H
#define RT_LINEAR_H


/* Inputs taken at once by many rows: two panels of that depth are 64 KB and stay in the second-level cache, a tile
 * of fourteen rows is 28 KB and stays in the first. One row reads each weight once, so it streams undivided. */
enum { RT_LINEAR_DEPTH = 512 };

/* Floats from panel to panel. Panels of f32 are a multiple of 64 bytes as they are. */
RT_INLINE size_t rt_panel_floats(const RtLinear *shape, const RtFormat format)
{
    return format == RT_F32 ? 16 * (size_t)(shape->in + (shape->has_bias ? 1 : 0)) : rt_panel_bytes(shape->in, shape->has_bias, 16) / sizeof(float);
}

/* A full tile of many rows. */
RT_INLINE int rt_linear_rows(const RtLinear *shape) { return shape->wide_tile ? RT_WIDE_ROWS : RT_TILE_ROWS; }
RT_INLINE int rt_linear_abreast(const RtLinear *shape) { return shape->wide_tile ? RT_WIDE_PANELS : RT_TILE_PANELS; }

/* rows: of all tiles. */
RT_INLINE RtTile rt_linear_tile(const RtLinear *shape, float *y, size_t y_stride, int rows, const RtFormat format)
{
    RtTile t;
    t.y = y, t.y_stride = y_stride;
    t.x_stride = (size_t)shape->x_stride;
    t.w_panel = rt_panel_floats(shape, format);
    t.last = 16, t.one_stream = shape->one_stream;
    t.add = NULL, t.add_last = 16;
    t.wide = shape->wide_tile;
    t.cached = 0;
    t.tile = 0, t.tiles = shape->no_prefetch ? 0 : rows / rt_linear_rows(shape);
    return t;
}

/* `panels` of them, the first at w. */
RT_INLINE void rt_linear_panels(const RtLinear *shape, RtTile t, RtActivation activation, const float *x, const float *w, int rows,
                                int panels, const RtFormat format)
{
    const int bias = shape->has_bias ? 16 : 0, depth = rows == 1 ? shape->in : RT_LINEAR_DEPTH;
    for (int i = 0; i < shape->in; i += t.in) {
        t.in = shape->in - i < depth ? shape->in - i : depth;
        t.x = x + i;
        t.w = w + bias + (size_t)rt_row_floats(format) * (size_t)i;
        t.start = i ? RT_FROM_Y : bias ? RT_FROM_BIAS : RT_FROM_ZERO;
        t.activation = i + t.in == shape->in ? activation : RT_IDENTITY;
        rt_tile_all_of(t, rows, panels, format);
    }
}

RT_INLINE void rt_linear_as(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end,
                            const RtFormat format)
{
    const RtTile t = rt_linear_tile(shape, y + 16 * (size_t)begin, (size_t)shape->y_stride, rows, format);
    rt_linear_panels(shape, t, shape->activation, x, (const float *)w + (size_t)begin * t.w_panel, rows, end - begin, format);
}

/* What goes into y by way of another number waits in a piece: of one row as many panels as stand abreast, of many one tile. */
enum {
    RT_PIECE = 16 * RT_MOST_SUMS
};

RT_INLINE void rt_linear_gate_as(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end,
                                 const RtFormat format)
{
    XF_ALIGN(64) float factor[RT_PIECE];
    const size_t y_stride = (size_t)shape->y_stride;
    const int abreast = rows == 1 ? RT_ROW_PANELS : rt_linear_abreast(shape), most = rt_linear_rows(shape);
    for (int p = begin; p < end; p += abreast) {
        const int panels = end - p < abreast ? end - p : abreast;
        const size_t width = 16 * (size_t)panels;
        for (int r = 0, n; r < rows; r += n) {
            n = rows - r < most ? rows - r : most;
            float *to = y + (size_t)r * y_stride + 16 * (size_t)p;
            RtTile g = rt_linear_tile(shape, to, y_stride, rows, format), u = rt_linear_tile(shape, factor, width, rows, format);
            g.tile = u.tile = r / most;
            const float *from = x + (size_t)r * g.x_stride, *weights = (const float *)w + (size_t)p * g.w_panel;
            for (int second = 0; second < 2; second++, weights += (size_t)((shape->out + 15) / 16) * g.w_panel)
                rt_linear_panels(shape, second ? u : g, RT_IDENTITY, from, weights, n, panels, format);
            for (int k = 0; k < n; k++)
                for (size_t i = 0; i < width; i += 16) {
                    float *at = to + (size_t)k * y_stride + i;
                    rt_store(at, rt_mul(rt_activate(shape->activation, rt_load(at)), rt_load(factor + (size_t)k * width + i)));
                }
        }
    }
}

/* One row is added to from the registers that hold its sums. Of many y may be a, and holds no sums. */
RT_INLINE void rt_linear_add_as(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, int rows, int begin,
                                int end, const RtFormat format)
{
    XF_ALIGN(64) float sums[RT_PIECE];
    const size_t y_stride = (size_t)shape->y_stride;
    if (rows == 1 && (shape->activation == RT_IDENTITY || shape->activation == RT_RELU)) {
        RtTile t = rt_linear_tile(shape, y + 16 * (size_t)begin, y_stride, 1, format);
        t.add = a + 16 * (size_t)begin, t.add_last = rt_lanes_at(shape->out, 16 * (end - 1));
        rt_linear_panels(shape, t, shape->activation, x, (const float *)w + (size_t)begin * t.w_panel, 1, end - begin, format);
        return;
    }
    const int abreast = rt_linear_abreast(shape), most = rt_linear_rows(shape);
    for (int p = begin; p < end; p += abreast) {
        const int panels = end - p < abreast ? end - p : abreast;
        const size_t width = 16 * (size_t)panels;
        RtTile t = rt_linear_tile(shape, sums, width, rows, format);
        for (int r = 0, n; r < rows; r += n) {
            n = rows - r < most ? rows - r : most;
            const size_t at = (size_t)r * y_stride + 16 * (size_t)p;
            t.tile = r / most;
            rt_linear_panels(shape, t, shape->activation, x + (size_t)r * t.x_stride, (const float *)w + (size_t)p * t.w_panel, n, panels,
                             format);
            for (int k = 0; k < n; k++)
                for (size_t i = 0; i < width; i += 16) {
                    const size_t to = at + (size_t)k * y_stride + i;
                    const int lanes = rt_lanes_at(shape->out, 16 * p + (int)i);
                    rt_store(y + to, rt_add(rt_load_n(a + to, lanes), rt_load(sums + (size_t)k * width + i)));
                }
        }
    }
}

#endif

/* linear_f32.c: y = activation(W x + b) over panels of sixteen outputs, and the product of two such. */

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

/* rt_cache.h: rows of values into a cache, whatever its format; the kernels of kernels/cache_f32.c and cache_f16.c are this function
 * with a format, and keep keys by functions of their own. See RtCache for the layouts. */
#ifndef RT_CACHE_H
#define RT_CACHE_H


/* The position of a row, in a ring modulo its capacity. */
RT_INLINE size_t rt_cache_place(const RtCache *shape, const int *positions, int r, int ring)
{
    return (size_t)(ring ? positions[r] % shape->capacity : positions[r]);
}

/* Padding columns of the last panel become zeros. */
RT_INLINE void rt_store_values_as(const RtCache *shape, void *cache, const float *x, const int *positions, int rows, int begin,
                                  int end, int ring, const RtFormat format)
{
    const int width = shape->width;
    const size_t sixteen = (size_t)rt_row_floats(format), panel = sixteen * (size_t)shape->capacity;
    const size_t head = (size_t)((width + 15) / 16) * panel;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *value = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * (size_t)width;
            float *row = (float *)cache + (size_t)h * head + sixteen * rt_cache_place(shape, positions, r, ring);
            for (int i = 0; i < width; i += 16, row += panel)
                rt_store_as(row, rt_load_n(value + i, rt_lanes_at(width, i)), format);
        }
}

#endif

/* cache_f32.c: put rows of keys and values where attention reads them as panels. Row r goes to positions[r], in a ring to
 * positions[r] % capacity; heads begin..end. x rows are [heads * width]. See RtCache for the layouts. */

/* A key is a column of its panel: each of its numbers goes into another line of sixteen. */
RT_INLINE void rt_store_keys(const RtCache *shape, float *cache, const float *x, const int *positions, int rows, int begin,
                             int end, int ring)
{
    const size_t width = (size_t)shape->width, head = width * (size_t)shape->capacity;
    for (int h = begin; h < end; h++)
        for (int r = 0; r < rows; r++) {
            const float *restrict key = x + (size_t)r * (size_t)shape->x_stride + (size_t)h * width;
            const size_t place = rt_cache_place(shape, positions, r, ring);
            float *restrict column = cache + (size_t)h * head + place / 16 * 16 * width + place % 16;
            for (size_t i = 0; i < width; i++)
                column[16 * i] = key[i];
        }
}

RT_KERNEL void rt_store_k_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    rt_store_keys(shape, cache, x, positions, rows, begin, end, 0);
}

RT_KERNEL void rt_store_v_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                              int begin, int end)
{
    rt_store_values_as(shape, cache, x, positions, rows, begin, end, 0, RT_F32);
}

RT_KERNEL void rt_ring_store_k_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                                   int begin, int end)
{
    rt_store_keys(shape, cache, x, positions, rows, begin, end, 1);
}

RT_KERNEL void rt_ring_store_v_f32(const RtCache *shape, float *cache, const float *x, const int *positions, int rows,
                                   int begin, int end)
{
    rt_store_values_as(shape, cache, x, positions, rows, begin, end, 1, RT_F32);
}

/* rt_attention.h: softmax(scale q k^T) v, a few query rows of one head at a time.
 * Keys and values lie as panels, so both products are tiles of rt_simd.h. Every element is summed in the order of
 * positions, over exactly visible[r] of them, in whatever tile row r falls: the bits of a row depend neither on the
 * other rows nor on what the cache holds beyond. Cap, bias and mask change the scores between the two products; where
 * there are none, one test per tile is all they cost, and nothing where the compiler sees it. */
#ifndef RT_ATTENTION_H
#define RT_ATTENTION_H


/* score[j] = weight of position j, for visible > 0 positions of one row. */
static inline void rt_attention_softmax(float *score, int visible, float scale)
{
    const rt_v16 lowest = rt_set1(-INFINITY), factor = rt_set1(scale);
    rt_v16 max = lowest, sum = rt_set1(0), inverse;
    for (int j = 0; j < visible; j += 16) {
        rt_v16 s = rt_first_n(rt_mul(factor, rt_load(score + j)), rt_lanes_at(visible, j), lowest);
        rt_store(score + j, s);
        max = rt_max(max, s);
    }
    max = rt_set1(rt_max_of(max));
    for (int j = 0; j < visible; j += 16) {
        rt_v16 e = rt_exp(rt_sub(rt_load(score + j), max));
        rt_store(score + j, e);
        sum = rt_add(sum, e);
    }
    inverse = rt_set1(1 / rt_sum(sum));
    for (int j = 0; j < visible; j += 16)
        rt_store(score + j, rt_mul(inverse, rt_load(score + j)));
}

/* What one row of one head has besides its scores; NULL where it has none. */
typedef struct RtAttentionRow { const float *bias, *mask, *added; } RtAttentionRow;

/* bias: of position 0; a mask is the same for all heads. */
static inline RtAttentionRow rt_attention_row(const RtAttentionExtra *extra, int h, int r)
{
    RtAttentionRow row = { NULL, NULL, NULL };
    if (extra && extra->bias)
        row.bias = extra->bias + (ptrdiff_t)h * (2 * extra->reach - 1) + (extra->reach - 1 - extra->positions[r]);
    if (extra && extra->mask) row.mask = extra->mask + (ptrdiff_t)r * extra->mask_stride;
    if (extra && extra->added)
        row.added = extra->added + h * extra->added_head + (ptrdiff_t)r * extra->added_stride;
    return row;
}

/* score[j] = scale * score[j], capped, and what is to be added; -inf where hidden, by the mask or by
 * -inf added. Of a wholly hidden row nothing is visible: returns what is. */
static inline int rt_attention_adjust(const RtAttention *shape, RtAttentionRow row, float *score, int visible)
{
    const rt_v16 zero = rt_set1(0), lowest = rt_set1(-INFINITY), cap = rt_set1(shape->softcap);
    const rt_v16 factor = rt_set1(shape->softcap > 0 ? shape->scale / shape->softcap : shape->scale);
    rt_v16 seen = zero;
    for (int j = 0; j < visible; j += 16) {
        const int n = rt_lanes_at(visible, j);
        rt_v16 s = rt_mul(factor, rt_load(score + j));
        if (shape->softcap > 0) s = rt_mul(cap, rt_tanh(s));
        if (row.bias) s = rt_add(s, rt_load_n(row.bias + j, n));
        if (row.mask || row.added) {
            const rt_v16 all = rt_first_n(rt_set1(1), n, zero);
            const rt_v16 mask = row.mask ? rt_load_n(row.mask + j, n) : all;
            rt_v16 shown = rt_max(mask, rt_minus(mask));
            if (row.added) {
                const rt_v16 added = rt_load_n(row.added + j, n);
                shown = rt_if_less(lowest, added, shown, zero);
                s = rt_add(s, added);
            }
            s = rt_if_less(zero, shown, s, lowest);
            seen = rt_max(seen, shown);
        }
        rt_store(score + j, s);
    }
    return !(row.mask || row.added) || rt_max_of(seen) > 0 ? visible : 0;
}

/* Whether a row may look at position j. */
static inline int rt_attention_shows(RtAttentionRow row, int j)
{
    const int masked = row.mask && !(row.mask[j] < 0 || row.mask[j] > 0);
    return !masked && !(row.added && row.added[j] <= -INFINITY);
}

/* Copy `visible` scores of a row to a tap of `columns`, and zeros behind them and where hidden. */
static inline void rt_attention_tap(float *tap, const float *score, RtAttentionRow row, int visible,
                                    int columns)
{
    for (int j = 0; j < columns; j++)
        tap[j] = j < visible && rt_attention_shows(row, j) ? score[j] : 0;
}

/* out[r] = sum over j of weights[r][j] * v[j]: together as far as all rows see, then each row to its own end. */
RT_INLINE void rt_attention_values(RtTile t, const int *visible, int rows, int panels, const RtFormat format)
{
    int common = visible[0];
    for (int r = 1; r < rows; r++)
        common = visible[r] < common ? visible[r] : common;
    t.in = common, t.start = RT_FROM_ZERO;
    rt_tile_all_of(t, rows, panels, format);
    t.start = RT_FROM_Y, t.w += (size_t)rt_row_floats(format) * (size_t)common;
    for (int r = 0; r < rows; r++, t.x += t.x_stride, t.y += t.y_stride) {
        RtTile rest = t;
        rest.x += common, rest.in = visible[r] - common;
        if (rest.in) rt_tile_one_row_of(rest, panels, format);
    }
}

/* Turn the scratch of a tile, whose first row is `first`, from q k^T of head h into weights. seen[r]: how many
 * positions take part. */
static inline void rt_attention_weights_extra(const RtAttention *shape, const RtAttentionExtra *extra, float *scratch,
                                              int *seen, int h, int first, int rows)
{
    const RtAttentionRow all = { NULL, NULL, NULL };
    const int columns = shape->tap_columns;
    for (int r = 0; r < rows; r++, scratch += shape->capacity + 16) {
        const RtAttentionRow row = rt_attention_row(extra, h, first + r);
        const size_t tap = ((size_t)h * (size_t)shape->tap_rows + (size_t)(first + r)) * (size_t)columns;
        const int adjusted = shape->softcap > 0 || row.bias || row.mask || row.added;
        if (extra && extra->scores)
            rt_attention_tap(extra->scores + tap, scratch, row, seen[r], columns);
        if (adjusted) seen[r] = rt_attention_adjust(shape, row, scratch, seen[r]);
        if (seen[r]) rt_attention_softmax(scratch, seen[r], adjusted ? 1 : shape->scale);
        if (extra && extra->weights)
            rt_attention_tap(extra->weights + tap, scratch, all, seen[r], columns);
    }
}

static inline void rt_attention_weights(const RtAttention *shape, float *scratch, const int *seen, int rows)
{
    for (int r = 0; r < rows; r++, scratch += shape->capacity + 16)
        if (seen[r]) rt_attention_softmax(scratch, seen[r], shape->scale);
}

/* k, v: keys and values of that format. */
RT_INLINE void rt_attention_of(const RtAttention *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                               const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end, const RtFormat format)
{
    const size_t sixteen = (size_t)rt_row_floats(format);
    const int value_panels = (shape->d_v + 15) / 16;
    const size_t q_stride = (size_t)shape->q_stride, out_stride = (size_t)shape->out_stride;
    const size_t k_head = (size_t)shape->capacity / 16 * sixteen * (size_t)shape->d_k;
    const size_t v_panel = sixteen * (size_t)shape->capacity, row = (size_t)shape->capacity + 16;
    RtTile score = { .y = scratch, .y_stride = row, .x_stride = q_stride, .w_panel = sixteen * (size_t)shape->d_k,
                     .in = shape->d_k, .last = 16, .start = RT_FROM_ZERO, .activation = RT_IDENTITY, .cached = 1 };
    RtTile value = { .y_stride = out_stride, .x = scratch, .x_stride = row, .w_panel = v_panel,
                     .last = rt_lanes_at(shape->d_v, 16 * value_panels - 16), .activation = RT_IDENTITY, .cached = 1 };

    for (int h = begin; h < end; h++) {
        const size_t kv_head = (size_t)(h / (shape->heads / shape->kv_heads));
        score.w = (const float *)k + kv_head * k_head;
        value.w = (const float *)v + kv_head * (size_t)value_panels * v_panel;
        for (int first = 0; first < rows; first += RT_ATTENTION_ROWS) {
            const int n = rows - first < RT_ATTENTION_ROWS ? rows - first : RT_ATTENTION_ROWS;
            int seen[RT_ATTENTION_ROWS], most = 0;
            for (int r = 0; r < n; r++) {
                seen[r] = visible[first + r];
                most = seen[r] > most ? seen[r] : most;
            }
            score.x = q + (size_t)first * q_stride + (size_t)h * (size_t)shape->d_k;
            rt_tile_all_of(score, n, (most + 15) / 16, format);
            if (extra || shape->softcap > 0) rt_attention_weights_extra(shape, extra, scratch, seen, h, first, n);
            else rt_attention_weights(shape, scratch, seen, n);
            value.y = out + (size_t)first * out_stride + (size_t)h * (size_t)shape->d_v;
            rt_attention_values(value, seen, n, value_panels, format);
        }
    }
}

#endif

/* attention_f32.c: attention over keys and values of f32. */

RT_KERNEL void rt_attention_f32(const RtAttention *shape, float *out, const float *q, const float *k, const float *v,
                                float *scratch, const RtAttentionExtra *extra, const int *visible, int rows, int begin,
                                int end)
{
    rt_attention_of(shape, out, q, k, v, scratch, extra, visible, rows, begin, end, RT_F32);
}

/* vocabulary_f32.c: over rows of logits [size]. Padding columns are neither read nor written; y may be x. */

/* NaN counts as INFINITY. */
static inline rt_v16 rt_vocabulary_larger(rt_v16 max, rt_v16 x)
{
    const rt_v16 most = rt_set1(INFINITY);
    return rt_max(max, rt_if_less(x, most, x, most));
}

static inline float rt_vocabulary_max(const float *x, int size)
{
    const rt_v16 lowest = rt_set1(-INFINITY);
    rt_v16 max = lowest;
    int i = 0;
    for (; i <= size - 16; i += 16)
        max = rt_vocabulary_larger(max, rt_load(x + i));
    if (i < size) max = rt_vocabulary_larger(max, rt_first_n(rt_load_n(x + i, size - i), size - i, lowest));
    return rt_max_of(max);
}

/* y = (x - max) - log(sum of exp(x - max)): the sum is 1 at least and cannot overflow. */
RT_KERNEL void rt_log_softmax_f32(const RtVocabulary *shape, float *y, const float *x, int rows)
{
    const int size = shape->size;
    for (int r = 0; r < rows; r++, x += shape->stride, y += shape->stride) {
        const rt_v16 max = rt_set1(rt_vocabulary_max(x, size));
        rt_v16 sum = rt_set1(0), log_sum;
        for (int i = 0; i < size; i += 16) {
            const int n = rt_lanes_at(size, i);
            sum = rt_add(sum, rt_keep_n(rt_exp(rt_sub(rt_load_n(x + i, n), max)), n));
        }
        log_sum = rt_set1(rt_log(rt_sum(sum)));
        for (int i = 0; i < size; i += 16) {
            const int n = rt_lanes_at(size, i);
            rt_store_n(y + i, rt_sub(rt_sub(rt_load_n(x + i, n), max), log_sum), n);
        }
    }
}

/* y[r]: the first maximum of row r; -1 for a row with NaN or INFINITY in it. Only the first block of columns
 * that holds the maximum is searched number by number. */
RT_KERNEL void rt_argmax_f32(const RtVocabulary *shape, int *y, const float *x, int rows)
{
    enum { BLOCK = 256 };
    const int size = shape->size;
    for (int r = 0; r < rows; r++, x += shape->stride) {
        float best = -INFINITY;
        int first = 0;
        for (int i = 0; i < size; i += BLOCK) {
            const float max = rt_vocabulary_max(x + i, size - i < BLOCK ? size - i : BLOCK);
            if (max > best) best = max, first = i;
        }
        while (first < size - 1 && x[first] != best)
            first++;
        y[r] = x[first] == best && best < INFINITY ? first : -1;
    }
}

/* ---- the shapes of this model -------------------------------------------------------------------------- */

/* y = scale * table[id] */
static inline void embed_64_rows(float *y, const void *table, const int *ids, rt_span rows)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 8.0f };
    rt_embed_f32(&shape, y + 64 * rows.begin, table, ids + rows.begin, rows.end - rows.begin);
}

/* y = x + table[position] */
static inline void position_64_rows(float *y, const float *x, const void *table, const int *positions, rt_span rows)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 1.0f };
    rt_position_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, table, positions + rows.begin, rows.end - rows.begin);
}

/* y = gain * (x - mean) / (std + eps) + bias, std divided by width - 1 */
static inline void norm_64_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtNorm shape = { .heads = 1, .width = 64, .x_stride = 64, .y_stride = 64, .kind = RT_NORM_ANNOTATED, .eps = 1e-06f };
    rt_norm_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, w, rows.end - rows.begin);
}

/* y = x W^T + b    x [.., 64]  W [192, 64]  y [.., 192] */
static inline void linear_64x192_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 192, .x_stride = 64, .y_stride = 192, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y + 192 * rows.begin, x + 64 * rows.begin, w, rows.end - rows.begin, 0, 12);
}

/* cache[head][position / 16][.. 16][position % 16] = x */
static inline void store_keys_4x16_80_rows(float *cache, const float *x, const int *positions, rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 192 };
    rt_store_k_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rows.end - rows.begin, 0, 4);
}

/* cache[head][.. 16 / 16][position][16] = x */
static inline void store_values_4x16_80_rows(float *cache, const float *x, const int *positions, rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 192 };
    rt_store_v_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rows.end - rows.begin, 0, 4);
}

/* out = softmax(q k^T * 0.25) v, 4 heads, over the first visible[row] positions */
static inline void attention_4x16_80_rows(float *out, const float *q, const float *k, const float *v, float *scratch, const int *visible, rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16, .capacity = 80,
        .q_stride = 192, .out_stride = 64, .tap_rows = 0, .tap_columns = 0, .scale = 0.25f };
    rt_attention_f32(&shape, out + 64 * rows.begin, q + 192 * rows.begin, k, v, scratch, NULL, visible + rows.begin, rows.end - rows.begin, 0, 4);
}

/* y = a + x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_add_rows(float *y, const float *x, const void *w, const float *a, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_add_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, w, a + 64 * rows.begin, rows.end - rows.begin, 0, 4);
}

/* y = relu(x W^T + b)    x [.., 64]  W [256, 64]  y [.., 256] */
static inline void linear_64x256_relu_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 256, .x_stride = 64, .y_stride = 256, .has_bias = 1, .activation = RT_RELU };
    rt_linear_f32(&shape, y + 256 * rows.begin, x + 64 * rows.begin, w, rows.end - rows.begin, 0, 16);
}

/* y = a + x W^T + b    x [.., 256]  W [64, 256]  y [.., 64] */
static inline void linear_256x64_add_rows(float *y, const float *x, const void *w, const float *a, rt_span rows)
{
    static const RtLinear shape = { .in = 256, .out = 64, .x_stride = 256, .y_stride = 64, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_add_f32(&shape, y + 64 * rows.begin, x + 256 * rows.begin, w, a + 64 * rows.begin, rows.end - rows.begin, 0, 4);
}

/* y = x W^T + b    x [.., 64]  W [128, 64]  y [.., 128] */
static inline void linear_64x128_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 128, .x_stride = 64, .y_stride = 128, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y + 128 * rows.begin, x + 64 * rows.begin, w, rows.end - rows.begin, 0, 8);
}

/* cache[head][position / 16][.. 16][position % 16] = x */
static inline void store_keys_4x16_80_rows_v2(float *cache, const float *x, const int *positions, rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 128 };
    rt_store_k_f32(&shape, cache, x + 128 * rows.begin, positions + rows.begin, rows.end - rows.begin, 0, 4);
}

/* cache[head][.. 16 / 16][position][16] = x */
static inline void store_values_4x16_80_rows_v2(float *cache, const float *x, const int *positions, rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 80, .x_stride = 128 };
    rt_store_v_f32(&shape, cache, x + 128 * rows.begin, positions + rows.begin, rows.end - rows.begin, 0, 4);
}

/* y = scale * table[id] */
static inline void embed_64(float *y, const void *table, const int *ids)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 8.0f };
    rt_embed_f32(&shape, y, table, ids, 1);
}

/* y = x + table[position] */
static inline void position_64(float *y, const float *x, const void *table, const int *positions)
{
    static const RtEmbed shape = { .width = 64, .y_stride = 64, .scale = 1.0f };
    rt_position_f32(&shape, y, x, table, positions, 1);
}

/* y = gain * (x - mean) / (std + eps) + bias, std divided by width - 1 */
static inline void norm_64(float *y, const float *x, const void *w)
{
    static const RtNorm shape = { .heads = 1, .width = 64, .x_stride = 64, .y_stride = 64, .kind = RT_NORM_ANNOTATED, .eps = 1e-06f };
    rt_norm_f32(&shape, y, x, w, 1);
}

/* y = x W^T + b    x [.., 64]  W [192, 64]  y [.., 192] */
static inline void linear_64x192(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 192, .x_stride = 64, .y_stride = 192, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* cache[head][position / 16][.. 16][position % 16] = x */
static inline void store_keys_4x16_16(float *cache, const float *x, const int *positions, rt_span heads)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_k_f32(&shape, cache, x, positions, 1, heads.begin, heads.end);
}

/* cache[head][.. 16 / 16][position][16] = x */
static inline void store_values_4x16_16(float *cache, const float *x, const int *positions, rt_span heads)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_v_f32(&shape, cache, x, positions, 1, heads.begin, heads.end);
}

/* out = softmax(q k^T * 0.25) v, 4 heads, over the first visible[row] positions */
static inline void attention_4x16_16(float *out, const float *q, const float *k, const float *v, float *scratch, const int *visible, rt_span heads)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16, .capacity = 16,
        .q_stride = 192, .out_stride = 64, .tap_rows = 0, .tap_columns = 0, .scale = 0.25f };
    rt_attention_f32(&shape, out, q, k, v, scratch, NULL, visible, 1, heads.begin, heads.end);
}

/* y = a + x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_add(float *y, const float *x, const void *w, const float *a, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_add_f32(&shape, y, x, w, a, 1, panels.begin, panels.end);
}

/* y = x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* out = softmax(q k^T * 0.25) v, 4 heads, over the first visible[row] positions */
static inline void attention_4x16_80(float *out, const float *q, const float *k, const float *v, float *scratch, const int *visible, rt_span heads)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16, .capacity = 80,
        .q_stride = 64, .out_stride = 64, .tap_rows = 0, .tap_columns = 0, .scale = 0.25f };
    rt_attention_f32(&shape, out, q, k, v, scratch, NULL, visible, 1, heads.begin, heads.end);
}

/* y = relu(x W^T + b)    x [.., 64]  W [256, 64]  y [.., 256] */
static inline void linear_64x256_relu(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 256, .x_stride = 64, .y_stride = 256, .has_bias = 1, .activation = RT_RELU };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* y = a + x W^T + b    x [.., 256]  W [64, 256]  y [.., 64] */
static inline void linear_256x64_add(float *y, const float *x, const void *w, const float *a, rt_span panels)
{
    static const RtLinear shape = { .in = 256, .out = 64, .x_stride = 256, .y_stride = 64, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_add_f32(&shape, y, x, w, a, 1, panels.begin, panels.end);
}

/* y = x W^T + b    x [.., 64]  W [15, 64]  y [.., 15] */
static inline void linear_64x15(float *y, const float *x, const void *w, rt_span panels)
{
    static const RtLinear shape = { .in = 64, .out = 15, .x_stride = 64, .y_stride = 16, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y, x, w, 1, panels.begin, panels.end);
}

/* y = x - log(sum(exp(x))) */
static inline void log_softmax_15(float *y, const float *x)
{
    static const RtVocabulary shape = { .size = 15, .stride = 16 };
    rt_log_softmax_f32(&shape, y, x, 1);
}

/* y = index of the first maximum of x */
static inline void argmax_15(int *y, const float *x)
{
    static const RtVocabulary shape = { .size = 15, .stride = 16 };
    rt_argmax_f32(&shape, y, x, 1);
}

/* cache[head][position / 16][.. 16][position % 16] = x */
static inline void store_keys_4x16_16_rows(float *cache, const float *x, const int *positions, rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_k_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rows.end - rows.begin, 0, 4);
}

/* cache[head][.. 16 / 16][position][16] = x */
static inline void store_values_4x16_16_rows(float *cache, const float *x, const int *positions, rt_span rows)
{
    static const RtCache shape = { .heads = 4, .width = 16, .capacity = 16, .x_stride = 192 };
    rt_store_v_f32(&shape, cache, x + 192 * rows.begin, positions + rows.begin, rows.end - rows.begin, 0, 4);
}

/* out = softmax(q k^T * 0.25) v, 4 heads, over the first visible[row] positions */
static inline void attention_4x16_16_rows(float *out, const float *q, const float *k, const float *v, float *scratch, const int *visible, rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16, .capacity = 16,
        .q_stride = 192, .out_stride = 64, .tap_rows = 0, .tap_columns = 0, .scale = 0.25f };
    rt_attention_f32(&shape, out + 64 * rows.begin, q + 192 * rows.begin, k, v, scratch, NULL, visible + rows.begin, rows.end - rows.begin, 0, 4);
}

/* y = x W^T + b    x [.., 64]  W [64, 64]  y [.., 64] */
static inline void linear_64x64_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 64, .x_stride = 64, .y_stride = 64, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y + 64 * rows.begin, x + 64 * rows.begin, w, rows.end - rows.begin, 0, 4);
}

/* out = softmax(q k^T * 0.25) v, 4 heads, over the first visible[row] positions */
static inline void attention_4x16_80_rows_v2(float *out, const float *q, const float *k, const float *v, float *scratch, const int *visible, rt_span rows)
{
    static const RtAttention shape = { .heads = 4, .kv_heads = 4, .d_k = 16, .d_v = 16, .capacity = 80,
        .q_stride = 64, .out_stride = 64, .tap_rows = 0, .tap_columns = 0, .scale = 0.25f };
    rt_attention_f32(&shape, out + 64 * rows.begin, q + 64 * rows.begin, k, v, scratch, NULL, visible + rows.begin, rows.end - rows.begin, 0, 4);
}

/* y = x W^T + b    x [.., 64]  W [15, 64]  y [.., 15] */
static inline void linear_64x15_rows(float *y, const float *x, const void *w, rt_span rows)
{
    static const RtLinear shape = { .in = 64, .out = 15, .x_stride = 64, .y_stride = 16, .has_bias = 1, .activation = RT_IDENTITY };
    rt_linear_f32(&shape, y + 16 * rows.begin, x + 64 * rows.begin, w, rows.end - rows.begin, 0, 1);
}

/* y = x - log(sum(exp(x))) */
static inline void log_softmax_15_rows(float *y, const float *x, rt_span rows)
{
    static const RtVocabulary shape = { .size = 15, .stride = 16 };
    rt_log_softmax_f32(&shape, y + 16 * rows.begin, x + 16 * rows.begin, rows.end - rows.begin);
}

/* y = index of the first maximum of x */
static inline void argmax_15_rows(int *y, const float *x, rt_span rows)
{
    static const RtVocabulary shape = { .size = 15, .stride = 16 };
    rt_argmax_f32(&shape, y + rows.begin, x + 16 * rows.begin, rows.end - rows.begin);
}

#endif
