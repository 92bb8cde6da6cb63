/* format_groups.c: panels of int8 and int4, in groups with a factor each; rt_panel_bytes says
 * how they lie. What only fills up is 0. */
#include "pack_formats.h"
#include "weights.h"

#include <string.h>

#include "quantise.h"

/* Where the factors and the bytes of one output begin. */
typedef struct Output { int64_t factors, data; } Output;

static Output output_of(const Packed *k, int64_t output)
{
    const int64_t panel = output / 16 * (int64_t)narrow_panel_bytes(k) + (k->tensor[1] ? 64 : 0);
    const int64_t groups = (k->tensor[0]->dim[1].bound + QUANTISE_GROUP - 1) / QUANTISE_GROUP;
    return (Output){ panel + output % 16 * 2, panel + (int64_t)pad64((size_t)groups * 32) + output % 16 * 4 };
}

/* Numbers of group g of `in`: the last may be short. */
static int group_size(int64_t in, int64_t g)
{
    const int64_t left = in - g * QUANTISE_GROUP;
    return left < QUANTISE_GROUP ? (int)left : QUANTISE_GROUP;
}

/* A group as it stands in a panel: `bits` words of four bytes, 64 bytes apart. Of eight bits
 * numbers are 128 more, four a word; of four bits 8 more, eight a word, the second four in the
 * upper halves. */
static void put_group(unsigned char *to, const int8_t q[QUANTISE_GROUP], int bits)
{
    unsigned char bytes[QUANTISE_GROUP];
    for (int i = 0; i < QUANTISE_GROUP; i++) bytes[i] = (unsigned char)(q[i] + (1 << (bits - 1)));
    for (int word = 0; word < bits; word++) {
        unsigned char both[4] = { 0 };
        if (bits == 8) memcpy(both, bytes + 4 * word, 4);
        for (int k = 0; bits == 4 && k < 4; k++)
            both[k] = (unsigned char)(bytes[8 * word + k] | bytes[8 * word + 4 + k] << 4);
        memcpy(to + 64 * word, both, 4);
    }
}

/* A block of Q8_0 or Q4_0, a factor and a group: the same numbers, whose sum with 128 or 8 is
 * made here or stands there. */
static void put_stored(unsigned char *factor, unsigned char *to, const unsigned char *block,
                       int bits)
{
    const uint32_t low = 0x0F0F0F0F, high = 0xF0F0F0F0;
    memcpy(factor, block, 2);
    block += 2;
    for (int word = 0; bits == 8 && word < 8; word++) {
        const uint32_t bytes = bytes_u32(block + 4 * word) ^ 0x80808080;
        memcpy(to + 64 * word, &bytes, 4);
    }
    /* 0..15 are the lower halves of sixteen bytes, 16..31 the upper ones. */
    for (int half = 0; bits == 4 && half < 2; half++) {
        const uint32_t a = bytes_u32(block + 8 * half), b = bytes_u32(block + 8 * half + 4);
        const uint32_t lower = (a & low) | (b & low) << 4, upper = (a & high) >> 4 | (b & high);
        memcpy(to + 64 * half, &lower, 4);
        memcpy(to + 64 * (2 + half), &upper, 4);
    }
}

/* A row of w, or, where that is NULL, of stored groups. */
static void pack_row(unsigned char *factors, unsigned char *data, const float *w,
                     const unsigned char *blocks, int64_t in, int bits)
{
    for (int64_t g = 0; g * QUANTISE_GROUP < in; g++) {
        unsigned char *factor = factors + 32 * g, *to = data + 64 * bits * g;
        if (!w) {
            put_stored(factor, to, blocks + (2 + 4 * bits) * g, bits);
            continue;
        }
        const QuantisedGroup q = quantise_group(w + g * QUANTISE_GROUP, group_size(in, g), bits);
        memcpy(factor, &q.d, sizeof q.d);
        put_group(to, q.q, bits);
    }
}

/* What fills up the last panel is zeros, of the factor 0. */
static void pack_zeros(unsigned char *factors, unsigned char *data, int64_t in, int bits)
{
    static const int8_t zeros[QUANTISE_GROUP] = { 0 };
    for (int64_t g = 0; g * QUANTISE_GROUP < in; g++) {
        memset(factors + 32 * g, 0, 2);
        put_group(data + 64 * bits * g, zeros, bits);
    }
}

static void pack_quantised(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored)
{
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    const int bits = format_bits(k->format);
    for (int64_t o = 0; o < pad16(outputs); o++) {
        const Output at = output_of(k, o);
        if (o >= outputs) pack_zeros(out + at.factors, out + at.data, in, bits);
        else if (w) pack_row(out + at.factors, out + at.data, w + o * in, NULL, in, bits);
        else
            pack_row(out + at.factors, out + at.data, NULL, tensor_blocks(stored, o), in, bits);
    }
}

/* The other way: n numbers of a group with the factor d. */
static void take_group(float *w, int n, const unsigned char *from, float d, int bits)
{
    unsigned char bytes[QUANTISE_GROUP] = { 0 };
    float x[QUANTISE_GROUP];
    for (int word = 0; word < bits; word++) {
        unsigned char both[4];
        memcpy(both, from + 64 * word, 4);
        if (bits == 8) memcpy(bytes + 4 * word, both, 4);
        for (int k = 0; bits == 4 && k < 4; k++) {
            bytes[8 * word + k] = both[k] & 15;
            bytes[8 * word + 4 + k] = both[k] >> 4;
        }
    }
    for (int i = 0; i < QUANTISE_GROUP; i++) x[i] = d * (float)(bytes[i] - (1 << (bits - 1)));
    memcpy(w, x, (size_t)n * sizeof *w);
}

static void unpack_quantised(const unsigned char *from, const Packed *k, float *w)
{
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    const int bits = format_bits(k->format);
    for (int64_t o = 0; o < outputs; o++) {
        const Output at = output_of(k, o);
        for (int64_t g = 0; g * QUANTISE_GROUP < in; g++) {
            float *to = w + o * in + g * QUANTISE_GROUP;
            uint16_t d;
            memcpy(&d, from + at.factors + 32 * g, sizeof d);
            const unsigned char *group = from + at.data + 64 * bits * g;
            take_group(to, group_size(in, g), group, float_of_half(d), bits);
        }
    }
}

static void round_int8(float *w, int64_t outputs, int64_t in) { quantise_rows(w, outputs, in, 8); }
static void round_int4(float *w, int64_t outputs, int64_t in) { quantise_rows(w, outputs, in, 4); }

const PanelFormat format_PANELS_INT8 = { pack_quantised, unpack_quantised, round_int8 };
const PanelFormat format_PANELS_INT4 = { pack_quantised, unpack_quantised, round_int4 };
