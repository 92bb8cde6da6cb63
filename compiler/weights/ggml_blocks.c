/* ggml_blocks.c: ggml's blocks of weights of few bits, as its quantised files hold them. d, m: f16, little-endian; a nibble is half a byte, low
 * before high. The formulas are those of ggml's reference dequantisers. */
#include "weights.h"

#include <string.h>

static float half_at(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return half_to_float(h);
}

static int nibble(const unsigned char *q, int i, int half) { return i < half ? q[i] & 15 : q[i - half] >> 4; }

/* d, q[32]: y = d * q */
static float read_q8_0(const unsigned char *b, int i) { return half_at(b) * (float)(int8_t)b[2 + i]; }

/* d, nibbles[16]: y = d * (nibble - 8) */
static float read_q4_0(const unsigned char *b, int i) { return half_at(b) * (float)(nibble(b + 2, i, 16) - 8); }

/* d, m, nibbles[16]: y = d * nibble + m */
static float read_q4_1(const unsigned char *b, int i) { return half_at(b) * (float)nibble(b + 4, i, 16) + half_at(b + 2); }

/* d, fifth bits[4], nibbles[16]: y = d * (number - 16) */
static float read_q5_0(const unsigned char *b, int i)
{
    const int high = b[2 + i / 8] >> i % 8 & 1;
    return half_at(b) * (float)((nibble(b + 6, i, 16) | high << 4) - 16);
}

/* The factor and the least of group j of eight, 6 bits each, of the twelve bytes that K blocks have for them. */
static void k_group(const unsigned char *s, int j, int *factor, int *least)
{
    if (j < 4) *factor = s[j] & 63, *least = s[j + 4] & 63;
    else *factor = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4, *least = s[j + 4] >> 4 | (s[j] >> 6) << 4;
}

/* d, m, groups[12], then `q` of nibbles[4][32], of each 64 elements the low ones first: y = d * factor * number - m * least */
static float read_k(const unsigned char *b, const unsigned char *q, int i, int high)
{
    int factor, least;
    k_group(b + 4, i / 32, &factor, &least);
    const int number = nibble(q + i / 64 * 32, i % 64, 32) + high;
    return half_at(b) * (float)factor * (float)number - half_at(b + 2) * (float)least;
}

static float read_q4_k(const unsigned char *b, int i) { return read_k(b, b + 16, i, 0); }

/* Between groups and nibbles 32 bytes of fifth bits: bit i / 32 of byte i % 32. */
static float read_q5_k(const unsigned char *b, int i) { return read_k(b, b + 48, i, (b[16 + i % 32] >> i / 32 & 1) << 4); }

/* nibbles[128], two bits each [64], factors[16] of eight bits, d: y = d * factor * (number - 32). Of each 128 elements the nibbles of 64
 * bytes, low ones first, and the pairs of bits of 32. */
static float read_q6_k(const unsigned char *b, int i)
{
    const int half = i / 128, at = i % 128;
    const int low = nibble(b + 64 * half, at, 64), high = b[128 + 32 * half + at % 32] >> at / 32 * 2 & 3;
    return half_at(b + 208) * (float)(int8_t)b[192 + i / 16] * (float)((low | high << 4) - 32);
}

static const BlockFormat formats[] = {
    { DTYPE_Q8_0, 8, read_q8_0 },  { DTYPE_Q4_0, 2, read_q4_0 },  { DTYPE_Q4_1, 3, read_q4_1 },  { DTYPE_Q5_0, 6, read_q5_0 },
    { DTYPE_Q4_K, 12, read_q4_k }, { DTYPE_Q5_K, 13, read_q5_k }, { DTYPE_Q6_K, 14, read_q6_k },
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

/* ---- groups as they stand ----------------------------------------------------------------------------------- */

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

int tensor_block(const TensorSource *t, int64_t row, int64_t group, uint16_t *factor, int8_t q[32])
{
    const int bits = tensor_block_bits(t);
    if (!bits) return 0;
    const int64_t block = (t->start + row * t->stride[0]) / 32 + group;
    const unsigned char *p = t->file->map.data + t->offset + (size_t)block * dtype_bytes(t->dtype);
    memcpy(factor, p, sizeof *factor);
    for (int i = 0; i < 32; i++) q[i] = (int8_t)(bits == 8 ? (int8_t)p[2 + i] : nibble(p + 2, i, 16) - 8);
    return bits;
}
