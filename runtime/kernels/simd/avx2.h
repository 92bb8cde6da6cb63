/* avx2.h: AVX2 with FMA; f16 with F16C. */

#if RT_SIMD_PART == RT_PART_FLOATS
#if !defined(RT_HAS_FLOATS) && defined(__AVX2__) && defined(__FMA__) && !defined(RT_PORTABLE)
#define RT_HAS_FLOATS
/* ---- AVX2: two vectors ---------------------------------------------------------------------------------- */

enum { RT_TILE_ROWS = 6, RT_TILE_PANELS = 1, RT_ROW_PANELS = 6 };       /* 12 sums, 2 weights, 1 input; 16 registers */
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

/* In two products, the first of them exact: 2^128 is not a float. */
RT_INLINE __m256 rt_scale2_half(__m256 a, __m256 n)
{
    const __m256i all = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(all, 1), one = _mm256_set1_epi32(127);
    const __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, one), 23);
    const __m256i second = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(all, half), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(a, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(second));
}

RT_INLINE rt_v16 rt_scale2(rt_v16 a, rt_v16 n) { return rt_of(rt_scale2_half(a.low, n.low), rt_scale2_half(a.high, n.high)); }

RT_INLINE rt_v16 rt_load_bf16_even(const void *p)
{
    const __m256i low = _mm256_loadu_si256(p), high = _mm256_loadu_si256((const __m256i *)p + 1);
    return rt_of(_mm256_castsi256_ps(_mm256_slli_epi32(low, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(high, 16)));
}

RT_INLINE rt_v16 rt_load_bf16_odd(const void *p)
{
    const __m256 upper = _mm256_castsi256_ps(_mm256_set1_epi32(-65536));
    return rt_of(_mm256_and_ps(_mm256_loadu_ps(p), upper), _mm256_and_ps(_mm256_loadu_ps((const float *)p + 8), upper));
}

RT_INLINE __m256 rt_load_int8_half(const void *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

RT_INLINE rt_v16 rt_load_int8(const void *p)
{
    return rt_of(rt_load_int8_half(p), rt_load_int8_half((const uint8_t *)p + 8));
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
#endif /* RT_PART_FLOATS */

#if RT_SIMD_PART == RT_PART_F16
#if !defined(RT_HAS_F16) && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && !defined(RT_PORTABLE)
#define RT_HAS_F16
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
#endif
#endif /* RT_PART_F16 */

#if RT_SIMD_PART == RT_PART_BYTES
#if !defined(RT_HAS_BYTES) && defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__) && !defined(RT_PORTABLE)
#define RT_HAS_BYTES
/* ---- AVX2: two vectors ---------------------------------------------------------------------- */

/* vpmaddubsw adds two products of an unsigned and a signed byte in 16 bits. Products of a nibble
 * fit. Those of a byte fit if its offset is subtracted first and its sign goes to the activation:
 * at most 2 * 128 * 127. Widening even and odd bytes to 16 bits takes more instructions: on a Zen 3,
 * 64 rows, and one row with the weights in a cache, took 1.6 times as long in int4 and 1.3 times as
 * long in int8. */
#define RT_SIGNED_BYTES
#define RT_NIBBLE_PAIRS
enum { RT_BYTES_ROWS = 2, RT_BYTES_PANELS = 1 };
typedef struct rt_n16 { __m256i v[2]; } rt_n16;
typedef struct rt_bytes { __m256i size[2], sign[2]; } rt_bytes;         /* nibbles have no sign */
typedef struct rt_quad { __m256i v; } rt_quad;

RT_INLINE rt_n16 rt_n16_set1(int32_t x) { rt_n16 r; r.v[0] = r.v[1] = _mm256_set1_epi32(x); return r; }

RT_INLINE rt_v16 rt_n16_float(rt_n16 a)
{
    return rt_of(_mm256_cvtepi32_ps(a.v[0]), _mm256_cvtepi32_ps(a.v[1]));
}

RT_INLINE rt_quad rt_quad_of(const int8_t *x) { rt_quad r; r.v = _mm256_set1_epi32(rt_load_quad(x)); return r; }

/* Add to the sums of eight outputs. `pairs`: sixteen sums of two products, two of them for each
 * output. */
RT_INLINE __m256i rt_add_pairs(__m256i sum, __m256i pairs)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

RT_INLINE rt_n16 rt_n16_dot(rt_n16 sum, rt_bytes w, rt_quad x)
{
    RT_UNROLL for (int i = 0; i < 2; i++)
        sum.v[i] = rt_add_pairs(sum.v[i], _mm256_maddubs_epi16(w.size[i], _mm256_sign_epi8(x.v, w.sign[i])));
    return sum;
}

RT_INLINE rt_n16 rt_n16_dot_nibbles(rt_n16 pairs, rt_bytes w, rt_quad x)
{
    RT_UNROLL for (int i = 0; i < 2; i++) pairs.v[i] = _mm256_add_epi16(pairs.v[i], _mm256_maddubs_epi16(w.size[i], x.v));
    return pairs;
}

RT_INLINE rt_n16 rt_n16_add_pairs(rt_n16 sum, rt_n16 pairs)
{
    RT_UNROLL for (int i = 0; i < 2; i++) sum.v[i] = rt_add_pairs(sum.v[i], pairs.v[i]);
    return sum;
}

RT_INLINE rt_bytes rt_load_bytes(const uint8_t *p)
{
    rt_bytes r;
    RT_UNROLL for (int i = 0; i < 2; i++) {
        r.sign[i] = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)p + i), _mm256_set1_epi8(-128));
        r.size[i] = _mm256_abs_epi8(r.sign[i]);
    }
    return r;
}

RT_INLINE rt_bytes rt_nibbles_at(const uint8_t *p, int shift)
{
    rt_bytes r;
    RT_UNROLL for (int i = 0; i < 2; i++) {
        const __m256i v = _mm256_srli_epi16(_mm256_loadu_si256((const __m256i *)p + i), shift);
        r.size[i] = r.sign[i] = _mm256_and_si256(v, _mm256_set1_epi8(15));
    }
    return r;
}

RT_INLINE rt_bytes rt_nibbles_low(const uint8_t *p) { return rt_nibbles_at(p, 0); }
RT_INLINE rt_bytes rt_nibbles_high(const uint8_t *p) { return rt_nibbles_at(p, 4); }
#endif
#endif /* RT_PART_BYTES */
