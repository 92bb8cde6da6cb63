/* pack_formats.c: pack, unpack and round narrow panels, by calling the functions of their
 * format. */
#include "pack_formats.h"

#include <string.h>

static const PanelFormat *const panel_formats[FORMATS] = {
#define FORMAT(id, name, word, bits, dtype, size, doc)
#define PANEL_FORMAT(id, name, word, bits, dtype, size, kernels, doc) [FORMAT_##id] = &format_##id,
#include "formats.def"
#undef FORMAT
};

size_t narrow_panel_bytes(const Packed *k)
{
    return rt_panel_bytes((int)k->tensor[0]->dim[1].bound, k->tensor[1] != NULL, format_bits(k->format));
}

void pack_narrow(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored)
{
    panel_formats[k->format]->pack(out, k, w, stored);
}

void unpack_narrow(const unsigned char *from, const Packed *k, float *w) { panel_formats[k->format]->unpack(from, k, w); }

void round_narrow(float *w, Format f, int64_t outputs, int64_t in) { panel_formats[f]->round(w, outputs, in); }

void pack_biases(unsigned char *out, const Packed *k, const float *bias)
{
    for (int64_t o = 0; o < k->tensor[0]->dim[0].bound; o++)
        memcpy(out + (size_t)(o / 16) * narrow_panel_bytes(k) + (size_t)(o % 16) * 4, &bias[o], sizeof *bias);
}
