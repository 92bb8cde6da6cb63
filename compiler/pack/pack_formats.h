/* pack_formats.h: what a format of narrow panels can do; a PANEL_FORMAT of formats.def has a format_<id> in a file
 * format_*.c. */
#ifndef PACK_FORMATS_H
#define PACK_FORMATS_H

#include "pack_parts.h"

typedef struct PanelFormat {
    /* w is [outputs][in]. Biases stay as they are. w NULL, of groups: `stored` has groups of as many bits, which are
     * taken as they are. */
    void (*pack)(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored);
    void (*unpack)(const unsigned char *from, const Packed *k, float *w);
    void (*round)(float *w, int64_t outputs, int64_t in);       /* in place, as packing leaves them */
} PanelFormat;

#define FORMAT(id, name, word, bits, dtype, size, doc)
#define PANEL_FORMAT(id, name, word, bits, dtype, size, kernels, doc) extern const PanelFormat format_##id;
#include "formats.def"
#undef FORMAT

#endif
