/* format_groups.c: panels of int8 and int4, in groups with a factor each; rt_panel_bytes says how they lie. What only
 * fills up is 0. */
#include "pack_formats.h"
#include "weights.h"

#include <string.h>

#include "quantise.h"

/* Of one output of a matrix: where its factors and its bytes begin. */
typedef struct Lane { int64_t factors, data; } Lane;

static Lane lane_of(const Packed *k, int64_t output)
{
    const int64_t panel = output / 16 * (int64_t)narrow_panel_bytes(k) + (k->tensor[1] ? 64 : 0);
    const int64_t groups = (k->tensor[0]->dim[1].bound + QUANTISE_GROUP - 1) / QUANTISE_GROUP;
    return (Lane){ panel + output % 16 * 2, panel + (int64_t)pad64((size_t)groups * 32) + output % 16 * 4 };
}

/* Number i of group g: its byte from the lane's first, and how far up it stands there. */
static int64_t byte_of(int bits, int64_t g, int i) { return 64 * bits * g + (bits == 8 ? i / 4 : i / 8) * 64 + i % 4; }
static int shift_of(int bits, int i) { return bits == 4 ? i / 4 % 2 * 4 : 0; }

/* A group as it stands in a panel: `bits` words of four bytes, 64 bytes apart. Of eight bits numbers are 128 more, four a word; of
 * four bits 8 more, eight a word, the second four in the upper halves. */
static void put_group(unsigned char *to, const int8_t q[QUANTISE_GROUP], int bits)
{
    unsigned char bytes[QUANTISE_GROUP];
    for (int i = 0; i < QUANTISE_GROUP; i++) bytes[i] = (unsigned char)(q[i] + (1 << (bits - 1)));
    for (int word = 0; word < bits; word++) {
        unsigned char both[4];
        if (bits == 8) memcpy(both, bytes + 4 * word, 4);
        else for (int k = 0; k < 4; k++) both[k] = (unsigned char)(bytes[8 * word + k] | bytes[8 * word + 4 + k] << 4);
        memcpy(to + 64 * word, both, 4);
    }
}

static QuantisedGroup stored_group(const TensorSource *stored, int64_t row, int64_t group)
{
    QuantisedGroup g;
    tensor_block(stored, row, group, &g.d, g.q);
    return g;
}

static void pack_quantised(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored)
{
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    const int bits = format_bits(k->format);
    for (int64_t o = 0; o < pad16(outputs); o++) {
        const Lane lane = lane_of(k, o);
        for (int64_t g = 0; g * QUANTISE_GROUP < in; g++) {
            const int64_t at = g * QUANTISE_GROUP;
            const int n = o >= outputs ? 0 : in - at < QUANTISE_GROUP ? (int)(in - at) : QUANTISE_GROUP;
            const QuantisedGroup q = n == 0 ? (QuantisedGroup){ 0 } : w ? quantise_group(w + o * in + at, n, bits) : stored_group(stored, o, g);
            memcpy(out + lane.factors + 32 * g, &q.d, sizeof q.d);
            put_group(out + lane.data + byte_of(bits, g, 0), q.q, bits);
        }
    }
}

static void unpack_quantised(const unsigned char *from, const Packed *k, float *w)
{
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    const int bits = format_bits(k->format);
    for (int64_t o = 0; o < outputs; o++) {
        const Lane lane = lane_of(k, o);
        for (int64_t i = 0; i < in; i++) {
            const int64_t g = i / QUANTISE_GROUP;
            const int at = (int)(i % QUANTISE_GROUP), byte = from[lane.data + byte_of(bits, g, at)];
            uint16_t d;
            memcpy(&d, from + lane.factors + 32 * g, sizeof d);
            *w++ = float_of_half(d) * (float)((byte >> shift_of(bits, at) & ((1 << bits) - 1)) - (1 << (bits - 1)));
        }
    }
}

static void round_int8(float *w, int64_t outputs, int64_t in) { quantise_rows(w, outputs, in, 8); }
static void round_int4(float *w, int64_t outputs, int64_t in) { quantise_rows(w, outputs, in, 4); }

const PanelFormat format_PANELS_INT8 = { pack_quantised, unpack_quantised, round_int8 };
const PanelFormat format_PANELS_INT4 = { pack_quantised, unpack_quantised, round_int4 };
