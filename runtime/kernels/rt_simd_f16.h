/* rt_simd_f16.h: sixteen floats from and to f16, the IEEE half with 11 bits of precision. rt_simd.h stands before this file.
 *
 * rt_load_f16   sixteen f16 as floats: every f16 is one
 * rt_store_f16  sixteen floats as the nearest f16, ties to even; what lies beyond 65504, the largest f16, becomes that, with its
 *               sign, infinities too, and NaN stays NaN
 * Instructions and plain code give the same bits. Loads and stores take any pointer. */
#ifndef RT_SIMD_F16_H
#define RT_SIMD_F16_H

#include "rt_plain.h"
#include "rt_simd.h"

RT_INLINE rt_v16 rt_saturate_f16(rt_v16 a) { return rt_max(rt_set1(-65504), rt_min(rt_set1(65504), a)); }

#if defined(__AVX512F__) && !defined(RT_PORTABLE)

RT_INLINE rt_v16 rt_load_f16(const void *p) { return rt_of(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p))); }

RT_INLINE void rt_store_f16(void *p, rt_v16 a)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(rt_saturate_f16(a).v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && !defined(RT_PORTABLE)

RT_INLINE rt_v16 rt_load_f16(const void *p)
{
    return rt_of(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)), _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p + 1)));
}

RT_INLINE void rt_store_f16(void *p, rt_v16 a)
{
    const rt_v16 b = rt_saturate_f16(a);
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(b.low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128((__m128i *)p + 1, _mm256_cvtps_ph(b.high, _MM_FROUND_TO_NEAREST_INT));
}

#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(RT_PORTABLE) && !defined(RT_PLAIN_C)

RT_INLINE rt_v16 rt_load_f16(const void *p)
{
    rt_v16 r;
    for (int i = 0; i < 4; i++) {
        uint16x4_t half;
        memcpy(&half, (const uint8_t *)p + 8 * i, sizeof half);
        r.v[i] = (rt_part)vcvt_f32_f16(vreinterpret_f16_u16(half));
    }
    return r;
}

RT_INLINE void rt_store_f16(void *p, rt_v16 a)
{
    const rt_v16 b = rt_saturate_f16(a);
    for (int i = 0; i < 4; i++) {
        const uint16x4_t half = vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)b.v[i]));
        memcpy((uint8_t *)p + 8 * i, &half, sizeof half);
    }
}

#else

#if defined(__SSE2__) && !(defined(__AVX2__) && defined(__FMA__) && !defined(RT_PORTABLE)) && !defined(RT_PLAIN_C)
RT_INLINE rt_v16 rt_load_f16(const void *p)
{
    rt_v16 r;
    RT_UNROLL for (int i = 0; i < 4; i++) {
        const __m128i h = _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)((const uint8_t *)p + 8 * i)), _mm_setzero_si128());
        const __m128i bits = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x7fff)), 13);
        const __m128i sign = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x8000)), 16);
        const __m128i none = _mm_and_si128(_mm_cmpgt_epi32(bits, _mm_set1_epi32((0x7c00 << 13) - 1)), _mm_set1_epi32(0x7f800000));
        const __m128 size = _mm_mul_ps(_mm_castsi128_ps(bits), _mm_set1_ps(5.192296858534828e33f));
        r.v[i] = (rt_part)_mm_or_ps(size, _mm_castsi128_ps(_mm_or_si128(sign, none)));
    }
    return r;
}
#else
RT_INLINE rt_v16 rt_load_f16(const void *p)
{
    rt_f16 half[16];
    float f[16];
    memcpy(half, p, sizeof half);
    for (int i = 0; i < 16; i++) f[i] = rt_plain_of_f16(half[i]);
    return rt_load(f);
}
#endif

RT_INLINE void rt_store_f16(void *p, rt_v16 a)
{
    float f[16];
    rt_f16 half[16];
    rt_store(f, a);
    for (int i = 0; i < 16; i++) half[i] = rt_plain_to_f16(f[i]);
    memcpy(p, half, sizeof half);
}
#endif

#endif
