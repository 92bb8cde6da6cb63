/* format_bf16.c: pack, unpack and round bf16 panels; rt_panel_bytes has the layout. */
#include "pack_formats.h"

#include <string.h>

#include "quantise.h"

/* The offset of an output's first weight, and that of weight i from there. */
static size_t first_of(const Packed *k, int64_t output)
{
    return (size_t)(output / 16) * narrow_panel_bytes(k) + (k->tensor[1] ? 64 : 0) + (size_t)(output % 16) * 4;
}
static int64_t later(int64_t i) { return 64 * (i / 2) + 2 * (i % 2); }

/* How many inputs of sixteen outputs are copied at a time, so that they stay in the L1 cache; even. */
enum { TOGETHER = 64 };

static void pack_bf16(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored)
{
    (void)stored;
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    for (int64_t panel = 0; panel < outputs; panel += 16)
        for (int64_t first = 0; first < in; first += TOGETHER)
            for (int64_t o = panel; o < panel + 16 && o < outputs; o++) {
                unsigned char *to = out + first_of(k, o) + later(first);
                const float *from = w + o * in + first;
                for (int64_t i = 0; i < TOGETHER && first + i < in; i++) {
                    const uint16_t h = bf16_of_float(from[i]);
                    memcpy(to + later(i), &h, sizeof h);
                }
            }
}

static void unpack_bf16(const unsigned char *from, const Packed *k, float *w)
{
    const int64_t outputs = k->tensor[0]->dim[0].bound, in = k->tensor[0]->dim[1].bound;
    for (int64_t panel = 0; panel < outputs; panel += 16)
        for (int64_t first = 0; first < in; first += TOGETHER)
            for (int64_t o = panel; o < panel + 16 && o < outputs; o++) {
                const unsigned char *at = from + first_of(k, o) + later(first);
                float *to = w + o * in + first;
                for (int64_t i = 0; i < TOGETHER && first + i < in; i++) {
                    uint16_t h;
                    memcpy(&h, at + later(i), sizeof h);
                    to[i] = float_of_bf16(h);
                }
            }
}

static void round_bf16(float *w, int64_t outputs, int64_t in) { round_to_bf16(w, outputs * in); }

const PanelFormat format_PANELS_BF16 = { pack_bf16, unpack_bf16, round_bf16 };
