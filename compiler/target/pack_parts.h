/* pack_parts.h: what the files that pack weights share. */
#ifndef PACK_PARTS_H
#define PACK_PARTS_H

#include "pack.h"

/* One tensor of one layer. */
typedef struct PackEntry { const Packed *packed; int layer_index; size_t offset; } PackEntry;

/* All of them by offset; *n receives their number. */
PackEntry *pack_entries(Arena *a, const Plan *p, int *n);
/* Pack each to its place in `data`, which is zeros. */
void pack_tensors(unsigned char *data, const PackEntry *e, int n);

/* FNV-1a, 64 bits: `h` with more bytes. */
#define PACK_HASH_START UINT64_C(14695981039346656037)
uint64_t pack_hash(uint64_t h, const void *data, size_t n);

#endif
