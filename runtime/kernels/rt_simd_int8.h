/* rt_simd_int8.h: products of int8 or int4 weights and int8 activations, sixteen outputs at a time.
 *
 * Weights and activations are in groups of RT_GROUP numbers along a row, each with its own scale.
 * The sum of the products of a group is an integer, the same with every instruction set and in any
 * order; groups are added in ascending order, with one rt_fma each. So the bits of an element
 * depend neither on the rows nor on the panels nor on how they are divided. The files in simd/
 * define the section below, from rt_n16 to rt_n16_dot. */
#ifndef RT_SIMD_INT8_H
#define RT_SIMD_INT8_H

#include "rt_simd_f16.h"
#include "rt_tile.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { RT_GROUP = 32, RT_QUADS = RT_GROUP / 4 };
#define RT_UNROLL_QUADS RT_UNROLL

RT_INLINE int32_t rt_load_quad(const int8_t *p) { int32_t r; memcpy(&r, p, sizeof r); return r; }

/* rt_n16        sixteen 32-bit integers: one for each output of a panel
 * rt_bytes      four weights of each output, 0..255; with rt_nibbles_low, _high: the low or high
 *               nibbles of four bytes of each output, 0..15
 * rt_quad       four activations, -127..127, for all outputs
 * rt_n16_dot    sum + the four products of each output
 * rt_n16_dot_nibbles     the same for nibbles. With RT_NIBBLE_PAIRS it adds to two 16-bit sums of
 *               each output, and rt_n16_add_pairs adds these to 32-bit ones; else it is rt_n16_dot.
 *               The sums of a group fit: each has RT_QUADS pairs of at most 2 * 15 * 127
 * rt_n16_group_nibbles   low + all products of a group of nibbles and one row; only with
 *               RT_HAS_NIBBLE_GROUP
 * With RT_SIGNED_BYTES, rt_load_bytes subtracts the offset of the stored weights, 128. */

#define RT_SIMD_PART RT_PART_BYTES
#include "instruction_sets.def"
#undef RT_SIMD_PART

#ifdef RT_NIBBLE_PAIRS
_Static_assert(RT_QUADS * 2 * 15 * 127 <= INT16_MAX, "the sums of a group's nibbles overflow 16 bits");
enum { RT_HAS_PAIRS = 1 };
#else
#define rt_n16_dot_nibbles rt_n16_dot
enum { RT_HAS_PAIRS = 0 };
#endif
/* The offset that is still in the weights of a product. */
#ifdef RT_SIGNED_BYTES
enum { RT_BYTE_OFFSET = 0, RT_NIBBLE_OFFSET = 8 };
#else
enum { RT_BYTE_OFFSET = 128, RT_NIBBLE_OFFSET = 8 };
#endif

/* ---- activations ------------------------------------------------------------------------------------------------ */

/* Rows of activations as bytes: x = scale[r][g] * q[r][g][..] to within half a scale, rounded to
 * nearest, ties to even. start[r][g] is the initial sum of a group, which cancels the offset of the
 * weights. If a group holds an infinity or NaN, its scale is NaN. */
typedef struct RtByteRows {
    int8_t *q;
    float *scale;
    int32_t *start;
} RtByteRows;

/* Divide the caller's `rounded` for `rows` rows of `groups` groups; see rt_rounded_stride. */
RT_INLINE RtByteRows rt_byte_rows(void *rounded, int rows, int groups)
{
    const size_t n = (size_t)rows * (size_t)groups;
    RtByteRows b;
    b.q = (int8_t *)rounded;
    b.scale = (float *)rounded + n * (RT_GROUP / sizeof(float));
    b.start = (int32_t *)(void *)(b.scale + n);
    return b;
}

/* Round sixteen numbers of at most +-2^22 to the nearest integers; store the low bytes of these. */
RT_INLINE void rt_store_nearest(int8_t *q, rt_v16 x)
{
    /* 1.5 * 2^23: the integer is in the lowest bits */
    const rt_v16 shifted = rt_add(x, rt_set1(12582912.0f));
#if defined(__AVX512F__) && defined(__AVX512BW__) && !defined(RT_PORTABLE)
    _mm_storeu_si128((__m128i *)(void *)q, _mm512_cvtepi32_epi8(_mm512_castps_si512(shifted.v)));
#else
    uint32_t bits[16];
    float f[16];
    rt_store(f, shifted);
    memcpy(bits, f, sizeof bits);
    for (int i = 0; i < 16; i++) q[i] = (int8_t)(uint8_t)bits[i];
#endif
}

RT_INLINE int32_t rt_sum_of_group(const int8_t *q)
{
#if defined(__SSE2__) && !defined(RT_PLAIN_C)
    const __m128i sign = _mm_set1_epi8(-128), zero = _mm_setzero_si128();
    const __m128i a = _mm_sad_epu8(_mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)q), sign), zero);
    const __m128i b = _mm_sad_epu8(_mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)q + 1), sign), zero);
    const __m128i sum = _mm_add_epi32(a, b);
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum))) - 128 * RT_GROUP;
#else
    int32_t sum = 0;
    for (int i = 0; i < RT_GROUP; i++) sum += q[i];
    return sum;
#endif
}

/* The largest absolute value of 32 numbers; infinity if one is infinite, NaN if one is NaN. Without
 * the sign, the bits are ordered like the numbers, with NaN last. */
RT_INLINE float rt_largest_size(rt_v16 a, rt_v16 b)
{
    uint32_t most = 0;
    float size;
#if defined(__AVX512F__) && !defined(RT_PORTABLE)
    const __m512i sizes = _mm512_set1_epi32(0x7fffffff);
    most = _mm512_reduce_max_epu32(_mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(a.v), sizes),
                                                    _mm512_and_si512(_mm512_castps_si512(b.v), sizes)));
#else
    uint32_t bits[32];
    float numbers[32];
    rt_store(numbers, a);
    rt_store(numbers + 16, b);
    memcpy(bits, numbers, sizeof bits);
    for (int i = 0; i < 32; i++) most = (bits[i] & 0x7fffffffu) > most ? bits[i] & 0x7fffffffu : most;
#endif
    memcpy(&size, &most, sizeof size);
    return size;
}

/* Round one row of `in` numbers; `more` is the offset of the weights. */
RT_INLINE void rt_bytes_of_row(const float *x, int in, int8_t *q, float *scale, int32_t *start, int more)
{
    for (int i = 0; i < in; i += RT_GROUP, q += RT_GROUP) {
        const rt_v16 zero = rt_set1(0);
        const rt_v16 a = rt_load_n(x + i, rt_lanes_at(in, i));
        const rt_v16 b = in - i > 16 ? rt_load_n(x + i + 16, rt_lanes_at(in, i + 16)) : zero;
        const float most = rt_largest_size(a, b);
        const rt_v16 factor = rt_set1(127 / most);
        *scale++ = most / 127 + 0 * most;                               /* NaN for an infinity */
        rt_store_nearest(q, rt_mul(a, factor));
        rt_store_nearest(q + 16, rt_mul(b, factor));
        *start++ = -more * rt_sum_of_group(q);
    }
}

/* ---- the tile --------------------------------------------------------------------------------------------------- */

/* Like RtTile of rt_tile.h, for bytes:
 * y[r][16p + l] = activation(bias + sum over groups of (sum of q w) * (scale of w * scale)).
 * w: panels as in rt_panel_bytes, `w_panel` bytes apart. */
typedef struct RtByteTile {
    float *y;
    const int8_t *q;
    const float *scale;
    const int32_t *start;
    const uint8_t *w;
    size_t y_stride, w_panel;
    int groups, has_bias, last;
    RtActivation activation;
    const float *add;               /* NULL, or the row that is added to the sums of one row; */
    int add_last;                   /*   the columns of its last panel */
    int tile, tiles;                /* as in RtTile; a full tile has RT_BYTES_ROWS rows */
    RtAhead ahead;                  /* for one row or the first tile of a few; see rt_ahead */
} RtByteTile;

/* The integer sums of one group. The caller passes literals for rows, panels and bits (8 or 4). */
RT_INLINE void rt_group_sums(const RtByteTile *t, rt_n16 *sum, int g, const uint8_t *data, const int rows, const int panels, const int bits)
{
    const int pairs = bits == 4 && RT_HAS_PAIRS;
    RT_UNROLL for (int r = 0; r < rows; r++) {
        const rt_n16 start = rt_n16_set1(pairs ? 0 : t->start[r * t->groups + g]);
        RT_UNROLL for (int p = 0; p < panels; p++) sum[r * panels + p] = start;
    }
#ifdef RT_HAS_NIBBLE_GROUP
    if (rows == 1 && bits == 4) {
        RT_UNROLL for (int p = 0; p < panels; p++)
            sum[p] = rt_n16_group_nibbles(sum[p], data + (size_t)p * t->w_panel, t->q + (size_t)g * RT_GROUP);
        return;
    }
#endif
    RT_UNROLL_QUADS for (int j = 0; j < RT_QUADS; j++) {
        rt_bytes w[RT_BYTES_PANELS];
        const size_t line = 64 * (size_t)(bits == 8 ? j : j / 2);
        RT_UNROLL for (int p = 0; p < panels; p++) {
            const uint8_t *at = data + (size_t)p * t->w_panel + line;
            w[p] = bits == 8 ? rt_load_bytes(at) : j % 2 ? rt_nibbles_high(at) : rt_nibbles_low(at);
        }
        RT_UNROLL for (int r = 0; r < rows; r++) {
            const rt_quad x = rt_quad_of(t->q + ((size_t)r * (size_t)t->groups + (size_t)g) * RT_GROUP + 4 * j);
            RT_UNROLL for (int p = 0; p < panels; p++) {
                rt_n16 *to = &sum[r * panels + p];
                *to = bits == 8 ? rt_n16_dot(*to, w[p], x) : rt_n16_dot_nibbles(*to, w[p], x);
            }
        }
    }
#ifdef RT_NIBBLE_PAIRS
    if (pairs)
        RT_UNROLL for (int r = 0; r < rows; r++) {
            const rt_n16 start = rt_n16_set1(t->start[r * t->groups + g]);
            RT_UNROLL for (int p = 0; p < panels; p++)
                sum[r * panels + p] = rt_n16_add_pairs(start, sum[r * panels + p]);
        }
#endif
}

/* Prefetch what lies ahead of a group's bytes. */
RT_INLINE void rt_prefetch_group(const RtByteTile *t, const uint8_t *data, const int panels, const int bits)
{
    data += t->ahead.bytes;
    if (t->ahead.thin)
        RT_UNROLL for (int i = 0; i < 64 * bits; i += 256)
            RT_UNROLL for (int p = 0; p < panels; p++) rt_prefetch_later(data + (size_t)p * t->w_panel + i);
    else
        RT_UNROLL for (int i = 0; i < 64 * bits; i += 64)
            RT_UNROLL for (int p = 0; p < panels; p++) rt_prefetch(data + (size_t)p * t->w_panel + i);
}

/* Full tiles of many rows prefetch the panels after theirs, each tile its part, as in rt_tile.h:
 * 128 rows times 20 MB of weights in an L3 cache reach 315 instead of 285 GOP/s.
 *
 * One row reads a panel's scales before its bytes, so that memory sees one stream instead of two,
 * one of them slow: 1.1 billion 8-bit weights take a quarter less time, 4-bit weights a third less;
 * weights in a cache take up to an eighth less. If the processor gains from it (rt_ahead), one row
 * also prefetches the bytes ahead; so does the first tile of a few rows, which saves a seventh of
 * the time of 1.1 billion weights. */
RT_INLINE void rt_byte_tile(RtByteTile t, const int rows, const int panels, const int bits, int partial)
{
    enum { MOST = RT_BYTES_ROWS * RT_BYTES_PANELS };
    rt_v16 sum[MOST];
    const int last = partial ? t.last : 16;
    const uint8_t *scales = t.w + (t.has_bias ? 64 : 0), *data = scales + ((size_t)t.groups * 32 + 63) / 64 * 64;

    if (rows == 1)
        for (const uint8_t *s = scales; s < data; s += 64) rt_prefetch(s);
    RT_UNROLL for (int r = 0; r < rows; r++)
        RT_UNROLL for (int p = 0; p < panels; p++)
            sum[r * panels + p] = t.has_bias ? rt_load((const float *)(const void *)(t.w + (size_t)p * t.w_panel)) : rt_set1(0);
    const int asks = rows > 1 && rows == RT_BYTES_ROWS && t.tiles > 1;
    const size_t part = asks ? (size_t)(64 * bits / t.tiles) : 0;
    const uint8_t *ahead = data + (size_t)panels * t.w_panel + (size_t)(t.tile * t.groups) * part;
    for (int g = 0; g < t.groups; g++, ahead += part) {
        rt_n16 whole[MOST];
        for (size_t i = 0; i < part; i += 64)
            RT_UNROLL for (int p = 0; p < panels; p++) rt_prefetch_later(ahead + (size_t)p * t.w_panel + i);
        if (t.ahead.bytes && t.tile == 0) rt_prefetch_group(&t, data + (size_t)g * (size_t)(64 * bits), panels, bits);
        rt_group_sums(&t, whole, g, data + (size_t)g * (size_t)(64 * bits), rows, panels, bits);
        RT_UNROLL for (int p = 0; p < panels; p++) {
            const rt_v16 of_weights = rt_load_f16(scales + (size_t)p * t.w_panel + 32 * (size_t)g);
            RT_UNROLL for (int r = 0; r < rows; r++) {
                const rt_v16 scale = rt_mul(of_weights, rt_set1(t.scale[r * t.groups + g]));
                sum[r * panels + p] = rt_fma(rt_n16_float(whole[r * panels + p]), scale, sum[r * panels + p]);
            }
        }
    }
    rt_tile_end(sum, t.y, t.y_stride, rows, panels, last, t.activation, t.add, partial ? t.add_last : 16);
}

/* Any number of rows, `panels` panels side by side: full tiles, then 4, 2 and 1 rows. */
RT_INLINE void rt_byte_tile_rows(RtByteTile t, int rows, const int panels, const int bits, int partial)
{
#define RT_ROWS(n) { \
        rt_byte_tile(t, n, panels, bits, partial); \
        t.q += (size_t)(n) * (size_t)t.groups * RT_GROUP, t.scale += (n) * t.groups, t.start += (n) * t.groups; \
        t.y += (n) * t.y_stride, t.tile++, rows -= n; }
    while (rows >= RT_BYTES_ROWS) RT_ROWS(RT_BYTES_ROWS)
    if (RT_BYTES_ROWS > 4 && rows >= 4) RT_ROWS(4)
    if (RT_BYTES_ROWS > 2 && rows >= 2) RT_ROWS(2)
    if (RT_BYTES_ROWS > 1 && rows >= 1) RT_ROWS(1)
#undef RT_ROWS
}

RT_INLINE void rt_byte_tile_many(RtByteTile t, int rows, int panels, const int bits)
{
    for (; panels >= RT_BYTES_PANELS; t.w += RT_BYTES_PANELS * t.w_panel, t.y += 16 * RT_BYTES_PANELS) {
        panels -= RT_BYTES_PANELS;
        rt_byte_tile_rows(t, rows, RT_BYTES_PANELS, bits, panels == 0);
    }
    if (RT_BYTES_PANELS > 1 && panels) rt_byte_tile_rows(t, rows, 1, bits, 1);
}

/* With many rows there are many tiles, and constant shapes gain little: all callers share one
 * copy. */
RT_APART void rt_byte_tile_many_8(const RtByteTile *t, int rows, int panels) { rt_byte_tile_many(*t, rows, panels, 8); }
RT_APART void rt_byte_tile_many_4(const RtByteTile *t, int rows, int panels) { rt_byte_tile_many(*t, rows, panels, 4); }

/* The product of any number of rows and panels. One row takes one panel at a time: the weights are
 * then one stream, and the sums of one group do not wait for those of the group before it. */
RT_INLINE void rt_byte_tile_all(RtByteTile t, int rows, int panels, const int bits)
{
    if (rows > 1) {
        (bits == 8 ? rt_byte_tile_many_8 : rt_byte_tile_many_4)(&t, rows, panels);
        return;
    }
    for (; panels; t.w += t.w_panel, t.y += 16, t.add += t.add ? 16 : 0)
        rt_byte_tile(t, 1, 1, bits, --panels == 0);
}

#endif
