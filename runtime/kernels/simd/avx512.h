/* avx512.h: AVX-512, with VNNI or without. */

#if RT_SIMD_PART == RT_PART_FLOATS
#if !defined(RT_HAS_FLOATS) && defined(__AVX512F__) && !defined(RT_PORTABLE)
#define RT_HAS_FLOATS
/* ---- AVX-512: one vector -------------------------------------------------------------------------------- */

enum { RT_TILE_ROWS = 14, RT_TILE_PANELS = 2, RT_ROW_PANELS = 8 };      /* 28 sums, 2 weights, 1 input; 32 registers */
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

RT_INLINE rt_v16 rt_load_bf16_even(const void *p)
{
    return rt_of(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16)));
}

RT_INLINE rt_v16 rt_load_bf16_odd(const void *p)
{
    return rt_of(_mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), _mm512_set1_epi32(-65536))));
}

RT_INLINE rt_v16 rt_load_int8(const void *p)
{
    return rt_of(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p))));
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
#endif /* RT_PART_FLOATS */

#if RT_SIMD_PART == RT_PART_F16
#if !defined(RT_HAS_F16) && defined(__AVX512F__) && !defined(RT_PORTABLE)
#define RT_HAS_F16
RT_INLINE rt_v16 rt_load_f16(const void *p) { return rt_of(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p))); }

RT_INLINE void rt_store_f16(void *p, rt_v16 a)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(rt_saturate_f16(a).v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#endif
#endif /* RT_PART_F16 */

#if RT_SIMD_PART == RT_PART_BYTES
#if !defined(RT_HAS_BYTES) && defined(__AVX512F__) && defined(__AVX512BW__) && !defined(RT_PORTABLE)
#define RT_HAS_BYTES
/* ---- AVX-512, with VNNI or without ------------------------------------------------------------------------------ */

/* 32 registers hold 12 sums of one group, 12 of all groups, 2 weights and more. */
enum { RT_BYTES_ROWS = 6, RT_BYTES_PANELS = 2 };
typedef struct rt_n16 { __m512i v; } rt_n16;

RT_INLINE rt_n16 rt_n16_set1(int32_t x) { rt_n16 r; r.v = _mm512_set1_epi32(x); return r; }
RT_INLINE rt_v16 rt_n16_float(rt_n16 a) { return rt_of(_mm512_cvtepi32_ps(a.v)); }
RT_INLINE __m512i rt_low_nibbles(__m512i a) { return _mm512_and_si512(a, _mm512_set1_epi8(15)); }

#if defined(__AVX512VNNI__)
typedef struct rt_bytes { __m512i v; } rt_bytes;
typedef struct rt_quad { __m512i v; } rt_quad;

RT_INLINE rt_bytes rt_bytes_of(__m512i v) { rt_bytes r; r.v = v; return r; }
RT_INLINE rt_bytes rt_nibbles_of(__m512i v) { return rt_bytes_of(v); }
RT_INLINE rt_quad rt_quad_of(const int8_t *x) { rt_quad r; r.v = _mm512_set1_epi32(rt_load_quad(x)); return r; }
RT_INLINE rt_n16 rt_n16_dot(rt_n16 sum, rt_bytes w, rt_quad x) { sum.v = _mm512_dpbusd_epi32(sum.v, w.v, x.v); return sum; }

/* rt_n16_dot, with four activations at x. gcc does not find the operand that is broadcast from
 * memory. */
RT_INLINE void rt_n16_dot_at(rt_n16 *sum, __m512i w, const int8_t *x)
{
#if defined(__clang__)
    *sum = rt_n16_dot(*sum, rt_bytes_of(w), rt_quad_of(x));
#else
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum->v) : "v"(w), "m"(*(const int8_t(*)[4])x));
#endif
}

/* High nibbles are not shifted; their products, 16 times as large, have a sum of their own. The
 * empty asm keeps compilers from loading each line twice. int4 weights in a cache of a Zen 4 take a
 * fifth less time. */
#define RT_HAS_NIBBLE_GROUP
RT_INLINE rt_n16 rt_n16_group_nibbles(rt_n16 low, const uint8_t *w, const int8_t *x)
{
    rt_n16 high = rt_n16_set1(0);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        __m512i line = _mm512_loadu_si512(w + 64 * j);
        __asm__("" : "+v"(line));
        rt_n16_dot_at(&low, rt_low_nibbles(line), x + 8 * j);
        rt_n16_dot_at(&high, _mm512_and_si512(line, _mm512_set1_epi8(-16)), x + 8 * j + 4);
    }
    low.v = _mm512_add_epi32(low.v, _mm512_srai_epi32(high.v, 4));
    return low;
}
#else
/* Even and odd bytes, widened to 16 bits: the sum of two products of an unsigned and a signed byte
 * does not fit in 16 bits. Those of nibbles do, so nibbles and their activations stay bytes. */
#define RT_NIBBLE_PAIRS
typedef struct rt_bytes { __m512i even, odd; } rt_bytes;                /* nibbles: all in `even` */
typedef struct rt_quad { __m512i all, even, odd; } rt_quad;

RT_INLINE rt_bytes rt_bytes_of(__m512i v)
{
    rt_bytes r;
    r.even = _mm512_and_si512(v, _mm512_set1_epi16(255)), r.odd = _mm512_srli_epi16(v, 8);
    return r;
}

RT_INLINE rt_bytes rt_nibbles_of(__m512i v) { rt_bytes r; r.even = r.odd = v; return r; }

RT_INLINE rt_quad rt_quad_of(const int8_t *x)
{
    rt_quad r;
    r.all = _mm512_set1_epi32(rt_load_quad(x));
    r.even = _mm512_srai_epi16(_mm512_slli_epi16(r.all, 8), 8), r.odd = _mm512_srai_epi16(r.all, 8);
    return r;
}

RT_INLINE rt_n16 rt_n16_dot(rt_n16 sum, rt_bytes w, rt_quad x)
{
    sum.v = _mm512_add_epi32(sum.v, _mm512_add_epi32(_mm512_madd_epi16(w.even, x.even), _mm512_madd_epi16(w.odd, x.odd)));
    return sum;
}

RT_INLINE rt_n16 rt_n16_dot_nibbles(rt_n16 pairs, rt_bytes w, rt_quad x)
{
    pairs.v = _mm512_add_epi16(pairs.v, _mm512_maddubs_epi16(w.even, x.all));
    return pairs;
}

RT_INLINE rt_n16 rt_n16_add_pairs(rt_n16 sum, rt_n16 pairs)
{
    sum.v = _mm512_add_epi32(sum.v, _mm512_madd_epi16(pairs.v, _mm512_set1_epi16(1)));
    return sum;
}
#endif

RT_INLINE rt_bytes rt_load_bytes(const uint8_t *p) { return rt_bytes_of(_mm512_loadu_si512(p)); }
RT_INLINE rt_bytes rt_nibbles_low(const uint8_t *p) { return rt_nibbles_of(rt_low_nibbles(_mm512_loadu_si512(p))); }
RT_INLINE rt_bytes rt_nibbles_high(const uint8_t *p)
{
    return rt_nibbles_of(rt_low_nibbles(_mm512_srli_epi16(_mm512_loadu_si512(p), 4)));
}
#endif
#endif /* RT_PART_BYTES */
