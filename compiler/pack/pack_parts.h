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

/* Whether a self-test has values for it. The values for packed data, to their place in the head;
 * where nobody computes them they stay zeros. */
bool pack_has_values(const Plan *p);
void pack_values(const Pack *pack, const unsigned char *data, char *digits);

/* A packed file: `head` has zeros for its hash; `values`: who computes those of the self-test, or
 * NULL. False after an error of the writer, which is still open. */
typedef struct PackedFile {
    const Plan *plan;
    const PackEntry *entries;  int count;
    const unsigned char *head;  size_t head_bytes;
    const Pack *values;
} PackedFile;
bool pack_to_file(Arena *a, FileWriter *to, const PackedFile *file);

/* What packed data depends on: two plans of one key have the same bytes, in every process of this
 * version. */
uint64_t pack_key(const PackEntry *e, int n, size_t bytes);

/* Packed data of a key that a file of the cache holds. */
typedef enum PackCached {
    PACK_NOT_CACHED,                /* it is to be packed in memory */
    PACK_CACHED,                    /* *map is the file, *data in it */
    PACK_SPOILED                    /* an error was reported */
} PackCached;
/* Map it, or pack it there first; *packed receives whether that was needed. */
PackCached pack_cache_open(Arena *a, Diag *d, const Plan *p, uint64_t key, FileMap *map,
                           const unsigned char **data, bool *packed);

/* Narrow panels, in pack_formats.c: w is [outputs][in]. They leave the biases as they are, which have a call of their own.
 * w NULL, of panels in groups: `stored` has groups of as many bits, which are taken as they are. */
void pack_narrow(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored);
void unpack_narrow(const unsigned char *from, const Packed *k, float *w);
size_t narrow_panel_bytes(const Packed *k);
void pack_biases(unsigned char *out, const Packed *k, const float *bias);

#endif
