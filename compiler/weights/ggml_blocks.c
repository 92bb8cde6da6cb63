/* ggml_blocks.c: decode ggml's blocks of quantised weights, and recognise blocks and bf16 numbers
 * that are used as stored. d, m: f16, little-endian. A nibble is half a byte; the elements in the
 * low nibbles of an array come before those in its high nibbles. The formulas are those of ggml's
 * reference dequantisers. */
#include "weights.h"

#include <string.h>

static float half_at(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return float_of_half(h);
}

/* d, q[32]: y = d * q */
static void decode_q8_0(float *restrict y, const unsigned char *restrict b)
{
    const float d = half_at(b);
    for (int i = 0; i < 32; i++) y[i] = d * (float)(int8_t)b[2 + i];
}

/* d, nibbles[16]: y = d * (nibble - 8) */
static void decode_q4_0(float *restrict y, const unsigned char *restrict b)
{
    const float d = half_at(b);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)((b[2 + i] & 15) - 8);
        y[16 + i] = d * (float)((b[2 + i] >> 4) - 8);
    }
}

/* d, m, nibbles[16]: y = d * nibble + m */
static void decode_q4_1(float *restrict y, const unsigned char *restrict b)
{
    const float d = half_at(b), m = half_at(b + 2);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)(b[4 + i] & 15) + m;
        y[16 + i] = d * (float)(b[4 + i] >> 4) + m;
    }
}

/* d, fifth bits[4], nibbles[16]: y = d * (number - 16) */
static void decode_q5_0(float *restrict y, const unsigned char *restrict b)
{
    const float d = half_at(b);
    const uint32_t high = bytes_u32(b + 2);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)((int)((b[6 + i] & 15) | (high >> i & 1) << 4) - 16);
        y[16 + i] = d * (float)((int)((b[6 + i] >> 4) | (high >> (16 + i) & 1) << 4) - 16);
    }
}

/* Unpack the 6-bit factor and minimum of group j, 0 to 7, from the 12 bytes in which Q4_K and Q5_K
 * blocks store them. */
static void k_group(const unsigned char *s, int j, int *factor, int *least)
{
    if (j < 4) *factor = s[j] & 63, *least = s[j + 4] & 63;
    else *factor = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4, *least = s[j + 4] >> 4 | (s[j] >> 6) << 4;
}

/* d, m, groups[12], then nibbles q[4][32]: y = d * factor * number - m * least. The low nibbles of
 * q[k] are group 2k, the high ones group 2k + 1. `high` has 32 bytes: bit j of high[i] is the fifth
 * bit of number i of group j. */
static void decode_k(float *restrict y, const unsigned char *restrict b, const unsigned char *q,
                     const unsigned char *high)
{
    const float d = half_at(b), m = half_at(b + 2);
    for (int j = 0; j < 8; j++) {
        int factor, least;
        k_group(b + 4, j, &factor, &least);
        const float scale = d * (float)factor, from = m * (float)least;
        for (int i = 0; i < 32; i++) {
            const int number = (q[j / 2 * 32 + i] >> j % 2 * 4 & 15) | (high[i] >> j & 1) << 4;
            y[32 * j + i] = scale * (float)number - from;
        }
    }
}

static void decode_q4_k(float *restrict y, const unsigned char *restrict b)
{
    static const unsigned char none[32] = { 0 };
    decode_k(y, b, b + 16, none);
}

/* Like q4_k, with 32 bytes of fifth bits between groups and nibbles. */
static void decode_q5_k(float *restrict y, const unsigned char *restrict b)
{
    decode_k(y, b, b + 48, b + 16);
}

/* nibbles[128], bit pairs[64], signed 8-bit factors[16], d: y = d * factor * (number - 32). Every
 * 128 elements use 64 bytes of nibbles, the low ones first, and 32 bytes of bit pairs, the lowest
 * first. */
static void decode_q6_k(float *restrict y, const unsigned char *restrict b)
{
    const float d = half_at(b + 208);
    for (int j = 0; j < 16; j++) {
        const int half = j / 8, at = j % 8 * 16;
        const unsigned char *low = b + 64 * half + at % 64, *high = b + 128 + 32 * half + at % 32;
        const float scale = d * (float)(int8_t)b[192 + j];
        for (int i = 0; i < 16; i++) {
            const int number = (low[i] >> at / 64 * 4 & 15) | (high[i] >> at / 32 * 2 & 3) << 4;
            y[16 * j + i] = scale * (float)(number - 32);
        }
    }
}

static const BlockFormat formats[] = {
    { DTYPE_Q8_0, 8, decode_q8_0 },  { DTYPE_Q4_0, 2, decode_q4_0 },
    { DTYPE_Q4_1, 3, decode_q4_1 },  { DTYPE_Q5_0, 6, decode_q5_0 },
    { DTYPE_Q4_K, 12, decode_q4_k }, { DTYPE_Q5_K, 13, decode_q5_k },
    { DTYPE_Q6_K, 14, decode_q6_k },
};

const BlockFormat *block_format(DType dtype)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].dtype == dtype) return &formats[i];
    return NULL;
}

const BlockFormat *block_format_of_ggml(uint32_t type)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if ((uint32_t)formats[i].ggml == type) return &formats[i];
    return NULL;
}

/* ---- blocks used as stored ---------------------------------------------------------------------------------- */

int tensor_block_bits(const TensorSource *t)
{
    const int bits = t->dtype == DTYPE_Q8_0 ? 8 : t->dtype == DTYPE_Q4_0 ? 4 : 0;
    const bool whole = t->kind == SOURCE_FILE && !t->view_rank && !t->added && !(t->plus > 0) && t->rank == 2 && t->stride[1] == 1 &&
                       t->stride[0] % 32 == 0 && t->shape[1] % 32 == 0 && t->start % 32 == 0;
    return whole ? bits : 0;
}

bool tensor_is_bf16(const TensorSource *t)
{
    return t->kind == SOURCE_FILE && t->dtype == DTYPE_BF16 && !t->added && !(t->plus > 0) && !(t->plus < 0);
}

const unsigned char *tensor_blocks(const TensorSource *t, int64_t row)
{
    if (!tensor_block_bits(t)) return NULL;
    const size_t block = (size_t)((t->start + row * t->stride[0]) / 32);
    return t->file->map.data + t->offset + block * dtype_bytes(t->dtype);
}
