/* format_groups.c: int8 and int4 panels, in groups with one scale each. rt_panel_bytes describes
 * the layout. Padding consists of zero weights. */
#include "pack_formats.h"
#include "weights.h"

#include <string.h>

#include "quantise.h"

/* The offsets of the scales and of the data of one output. */
typedef struct Output { int64_t factors, data; } Output;

static Output output_of(const Packed *k, int64_t output)
{
    const int64_t panel = output / 16 * (int64_t)narrow_panel_bytes(k) + (k->tensor[1] ? 64 : 0);
    const int64_t groups = (k->tensor[0]->dim[1].bound + QUANTISE_GROUP - 1) / QUANTISE_GROUP;
    return (Output){ panel + output % 16 * 2, panel + (int64_t)pad64((size_t)groups * 32) + output % 16 * 4 };
}

/* The length of group g of `in` numbers; the last group may be short. */
static int group_size(int64_t in, int64_t g)
{
    const int64_t left = in - g * QUANTISE_GROUP;
    return left < QUANTISE_GROUP ? (int)left : QUANTISE_GROUP;
}

/* Word w of a group, for each row. int8: numbers 4 w .. 4 w + 3, plus 128, one per byte. int4:
 * numbers 8 w .. 8 w + 7, plus 8; the first four in the low nibbles, the rest in the high ones. */
static void word_of_rows(uint32_t words[QUANTISE_ROWS], int32_t q[][QUANTISE_ROWS], int w, int bits)
{
    memset(words, 0, QUANTISE_ROWS * sizeof *words);
    for (int k = 0; k < 4 && bits == 8; k++)
        for (int r = 0; r < QUANTISE_ROWS; r++)
            words[r] |= (uint32_t)(q[4 * w + k][r] + 128) << (8 * k);
    for (int k = 0; k < 4 && bits == 4; k++)
        for (int r = 0; r < QUANTISE_ROWS; r++) {
            const uint32_t low = (uint32_t)(q[8 * w + k][r] + 8);
            const uint32_t high = (uint32_t)(q[8 * w + 4 + k][r] + 8);
            words[r] |= (low | high << 4) << (8 * k);
        }
}

/* Copy a block of Q8_0 or Q4_0 (a scale and 32 numbers) without changing its values. 128 is added
 * to signed bytes; nibbles are already stored with 8 added. */
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
    /* The low nibbles of a block's sixteen bytes hold numbers 0..15, the high ones 16..31. */
    for (int half = 0; bits == 4 && half < 2; half++) {
        const uint32_t a = bytes_u32(block + 8 * half), b = bytes_u32(block + 8 * half + 4);
        const uint32_t lower = (a & low) | (b & low) << 4, upper = (a & high) >> 4 | (b & high);
        memcpy(to + 64 * half, &lower, 4);
        memcpy(to + 64 * (2 + half), &upper, 4);
    }
}

/* Quantise the first sixteen of the `rows` outputs at w[rows][in], or all if there are fewer,
 * into the scales and the data of one panel. */
static void pack_panel(unsigned char *factors, unsigned char *data, const float *w, int64_t rows,
                       int64_t in, int bits)
{
    for (int64_t at = 0; at < in; at += QUANTISE_GROUP, factors += 32) {
        float x[QUANTISE_GROUP][QUANTISE_ROWS];
        QuantisedGroups g;
        quantise_take(x, w, rows, in, at);
        quantise_groups(&g, x, bits);
        for (int64_t r = rows; r < QUANTISE_ROWS; r++) g.d[r] = 0;
        memcpy(factors, g.d, sizeof g.d);
        for (int word = 0; word < bits; word++, data += 64) {
            uint32_t words[QUANTISE_ROWS];
            word_of_rows(words, g.q, word, bits);
            memcpy(data, words, sizeof words);
        }
    }
}

/* An output that pads the last panel: all weights and scales are 0. */
static void pack_zeros(unsigned char *factors, unsigned char *data, int64_t in, int bits)
{
    for (int64_t g = 0; g * QUANTISE_GROUP < in; g++) {
        memset(factors + 32 * g, 0, 2);
        for (int word = 0; word < bits; word++)
            memset(data + 64 * (bits * g + word), bits == 8 ? 0x80 : 0x88, 4);
    }
}

static void pack_stored(unsigned char *factors, unsigned char *data, const unsigned char *blocks,
                        int64_t in, int bits)
{
    for (int64_t g = 0; g * QUANTISE_GROUP < in; g++)
        put_stored(factors + 32 * g, data + 64 * bits * g, blocks + (2 + 4 * bits) * g, bits);
}

static void pack_quantised(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored)
{
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    const int bits = format_bits(k->format);
    for (int64_t o = 0; o < pad16(outputs); o += w ? QUANTISE_ROWS : 1) {
        const Output at = output_of(k, o);
        unsigned char *factors = out + at.factors, *data = out + at.data;
        if (w) pack_panel(factors, data, w + o * in, outputs - o, in, bits);
        else if (o < outputs) pack_stored(factors, data, tensor_blocks(stored, o), in, bits);
        else pack_zeros(factors, data, in, bits);
    }
}

/* Dequantise the first n numbers of a group with the scale d. */
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
