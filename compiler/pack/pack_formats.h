/* pack_formats.h: the functions of the formats of narrow panels. Each PANEL_FORMAT of formats.def
 * has a format_<id> in one of format_*.c. */
#ifndef PACK_FORMATS_H
#define PACK_FORMATS_H

#include "pack_parts.h"

typedef struct PanelFormat {
    /* w is [outputs][in]. Biases are not touched. If w is NULL, which only group formats allow, the
     * groups of `stored`, which have the same number of bits, are copied unchanged. */
    void (*pack)(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored);
    void (*unpack)(const unsigned char *from, const Packed *k, float *w);
    void (*round)(float *w, int64_t outputs, int64_t in);       /* in place, as packing rounds */
} PanelFormat;

#define FORMAT(id, name, word, bits, dtype, size, doc)
#define PANEL_FORMAT(id, name, word, bits, dtype, size, kernels, doc) extern const PanelFormat format_##id;
#include "formats.def"
#undef FORMAT

#endif
