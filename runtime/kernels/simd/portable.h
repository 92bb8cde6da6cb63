/* portable.h: any machine, with 128-bit vectors if its compiler has them; also the parts that other
 * sets leave out. */

#if RT_SIMD_PART == RT_PART_FLOATS
#if !defined(RT_HAS_FLOATS)
#define RT_HAS_FLOATS
/* ---- portable: C11 without a fused multiply-add, unless neon.h defines one ------------------ *
 * If the compiler and the machine have 128-bit vectors, rt_v16 is four of those, otherwise sixteen
 * floats; the same expressions compute with both and, except for rt_fma, give the same bits. (gcc
 * turns sixteen floats in a struct into slow code.) */

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
enum { RT_TILE_ROWS = 2, RT_TILE_PANELS = 1, RT_ROW_PANELS = 2 };       /* 8 sums of 4 floats; 16 registers */
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

/* In two products, the first of them exact: 2^128 is not a float. Adding 1.5 * 2^23 puts the
 * integer n into the lowest bits. */
RT_INLINE rt_v16 rt_scale2(rt_v16 a, rt_v16 n)
{
    RT_EACH_PART {
        const rt_bits bits = rt_bits_of(n.v[i] + 12582912.0f) - 0x4b400000u;
        const rt_bits half = (bits >> 1) | (bits & 0x80000000u);
        a.v[i] = a.v[i] * rt_of_bits((half + 127u) << 23) * rt_of_bits((bits - half + 127u) << 23);
    }
    return a;
}

/* In a little-endian word, the first number of a pair is the lower half; bf16 has no big-endian
 * form. */
RT_INLINE rt_v16 rt_load_bf16_even(const void *p)
{
    rt_v16 r = rt_load(p);
    RT_EACH_PART r.v[i] = rt_of_bits(rt_bits_of(r.v[i]) << 16);
    return r;
}

RT_INLINE rt_v16 rt_load_bf16_odd(const void *p)
{
    rt_v16 r = rt_load(p);
    RT_EACH_PART r.v[i] = rt_of_bits(rt_bits_of(r.v[i]) & 0xFFFF0000u);
    return r;
}

RT_INLINE rt_v16 rt_load_int8(const void *p)
{
    int8_t bytes[16];
    float f[16];
    memcpy(bytes, p, sizeof bytes);
    for (int i = 0; i < 16; i++) f[i] = bytes[i];
    return rt_load(f);
}

/* Add the parts, then the floats of the one that remains. */
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
#endif /* RT_PART_FLOATS */

#if RT_SIMD_PART == RT_PART_F16
#if !defined(RT_HAS_F16)
#define RT_HAS_F16
#if defined(__SSE2__) && !(defined(__AVX2__) && defined(__FMA__) && !defined(RT_PORTABLE)) && !defined(RT_PLAIN_C)
RT_INLINE rt_v16 rt_load_f16(const void *p)
{
    rt_v16 r;
    RT_UNROLL for (int i = 0; i < 4; i++) {
        const __m128i h = _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)(const void *)((const uint8_t *)p + 8 * i)), _mm_setzero_si128());
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
#endif /* RT_PART_F16 */

#if RT_SIMD_PART == RT_PART_BYTES
#if !defined(RT_HAS_BYTES)
#define RT_HAS_BYTES
#if defined(__SSE2__) && !defined(RT_PLAIN_C)
/* ---- SSE2: four vectors, widened as in avx512.h --------------------------------------------- */

enum { RT_BYTES_ROWS = 1, RT_BYTES_PANELS = 1 };
typedef struct rt_n16 { __m128i v[4]; } rt_n16;
typedef struct rt_bytes { __m128i even[4], odd[4]; } rt_bytes;
typedef struct rt_quad { __m128i even, odd; } rt_quad;

RT_INLINE rt_n16 rt_n16_set1(int32_t x) { rt_n16 r; r.v[0] = r.v[1] = r.v[2] = r.v[3] = _mm_set1_epi32(x); return r; }

RT_INLINE rt_v16 rt_n16_float(rt_n16 a)
{
    XF_ALIGN(16) float f[16];
    RT_UNROLL for (int i = 0; i < 4; i++) _mm_store_ps(f + 4 * i, _mm_cvtepi32_ps(a.v[i]));
    return rt_load(f);
}

RT_INLINE rt_quad rt_quad_of(const int8_t *x)
{
    const __m128i v = _mm_set1_epi32(rt_load_quad(x));
    rt_quad r;
    r.even = _mm_srai_epi16(_mm_slli_epi16(v, 8), 8), r.odd = _mm_srai_epi16(v, 8);
    return r;
}

RT_INLINE rt_n16 rt_n16_dot(rt_n16 sum, rt_bytes w, rt_quad x)
{
    RT_UNROLL for (int i = 0; i < 4; i++) {
        const __m128i products = _mm_add_epi32(_mm_madd_epi16(w.even[i], x.even), _mm_madd_epi16(w.odd[i], x.odd));
        sum.v[i] = _mm_add_epi32(sum.v[i], products);
    }
    return sum;
}

RT_INLINE rt_bytes rt_load_masked(const uint8_t *p, int shift, int mask)
{
    rt_bytes r;
    RT_UNROLL for (int i = 0; i < 4; i++) {
        const __m128i v = _mm_srli_epi16(_mm_loadu_si128((const __m128i *)p + i), shift);
        r.even[i] = _mm_and_si128(v, _mm_set1_epi16((short)mask));
        r.odd[i] = _mm_and_si128(_mm_srli_epi16(v, 8), _mm_set1_epi16((short)mask));
    }
    return r;
}

RT_INLINE rt_bytes rt_load_bytes(const uint8_t *p) { return rt_load_masked(p, 0, 255); }
RT_INLINE rt_bytes rt_nibbles_low(const uint8_t *p) { return rt_load_masked(p, 0, 15); }
RT_INLINE rt_bytes rt_nibbles_high(const uint8_t *p) { return rt_load_masked(p, 4, 15); }

#else
/* ---- C11 -------------------------------------------------------------------------------------------------------- */

enum { RT_BYTES_ROWS = 1, RT_BYTES_PANELS = 1 };
#undef RT_UNROLL_QUADS
#define RT_UNROLL_QUADS
typedef struct rt_n16 { int32_t n[16]; } rt_n16;
typedef struct rt_bytes { const uint8_t *p; int shift, mask; } rt_bytes;
typedef struct rt_quad { const int8_t *x; } rt_quad;

RT_INLINE rt_n16 rt_n16_set1(int32_t x)
{
    rt_n16 r;
    for (int i = 0; i < 16; i++) r.n[i] = x;
    return r;
}

RT_INLINE rt_v16 rt_n16_float(rt_n16 a)
{
    float f[16];
    for (int i = 0; i < 16; i++) f[i] = (float)a.n[i];
    return rt_load(f);
}

RT_INLINE rt_quad rt_quad_of(const int8_t *x) { rt_quad r; r.x = x; return r; }

RT_INLINE rt_n16 rt_n16_dot(rt_n16 sum, rt_bytes w, rt_quad x)
{
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++) sum.n[i] += (w.p[4 * i + k] >> w.shift & w.mask) * x.x[k];
    return sum;
}

RT_INLINE rt_bytes rt_bytes_at(const uint8_t *p, int shift, int mask) { rt_bytes r; r.p = p, r.shift = shift, r.mask = mask; return r; }
RT_INLINE rt_bytes rt_load_bytes(const uint8_t *p) { return rt_bytes_at(p, 0, 255); }
RT_INLINE rt_bytes rt_nibbles_low(const uint8_t *p) { return rt_bytes_at(p, 0, 15); }
RT_INLINE rt_bytes rt_nibbles_high(const uint8_t *p) { return rt_bytes_at(p, 4, 15); }
#endif
#endif
#endif /* RT_PART_BYTES */
