/* pack_parts.h: what the files that pack weights share. */
#ifndef PACK_PARTS_H
#define PACK_PARTS_H

#include "pack.h"

/* One tensor of one layer. */
typedef struct PackEntry { const Packed *packed; int layer_index; size_t offset; } PackEntry;

/* All of them by offset; *n receives their number. */
PackEntry *pack_entries(Arena *a, const Plan *p, int *n);
/* Pack one to `out`, its bytes, which are zeros. */
void pack_tensor(unsigned char *out, const PackEntry *e);
/* Pack each to its place in `data`, which is zeros, on all processors. */
void pack_tensors(unsigned char *data, const PackEntry *e, int n);
/* The same data, `bytes` of them, in order to `write`, some megabytes at a time, on up to eight processors; false as soon as it is. */
typedef bool PackWrite(void *user, const void *bytes, size_t n);
bool pack_stream(const PackEntry *e, int n, size_t bytes, PackWrite *write, void *user);

/* Narrow panels, in pack_formats.c: w is [outputs][in]. They leave the biases as they are, which have a call of their own.
 * w NULL, of panels in groups: `stored` has groups of as many bits, which are taken as they are. */
void pack_narrow(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored);
void unpack_narrow(const unsigned char *from, const Packed *k, float *w);
size_t narrow_panel_bytes(const Packed *k);
void pack_biases(unsigned char *out, const Packed *k, const float *bias);

#endif
