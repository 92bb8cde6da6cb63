/* pack_parts.h: shared by the files that pack weights. */
#ifndef PACK_PARTS_H
#define PACK_PARTS_H

#include "pack.h"

/* A Packed in one of its layers; layer_index 0 if it has no layers. */
typedef struct PackEntry { const Packed *packed; int layer_index; size_t offset; } PackEntry;

/* All entries of a plan, sorted by offset; *n receives their number. */
PackEntry *pack_entries(Arena *a, const Plan *p, int *n);
/* Pack one entry to `out`, which has room for its bytes and must be zeros. */
void pack_tensor(unsigned char *out, const PackEntry *e);
/* Pack each entry to its offset in `data`, which must be zeros, on all processors if there is much
 * to pack. */
void pack_tensors(unsigned char *data, const PackEntry *e, int n);
/* Pack the entries on up to eight processors and pass all `bytes` bytes of the data in order to
 * `write`, slice by slice. False as soon as `write` returns false. */
typedef bool PackWrite(void *user, const void *bytes, size_t n);
bool pack_stream(const PackEntry *e, int n, size_t bytes, PackWrite *write, void *user);

/* pack_has_values: true if the model has a self-test. pack_values: write its values for packed data
 * to `digits`; without a self-test or pack->selftest, `digits` stays as it is. */
bool pack_has_values(const Plan *p);
void pack_values(const Pack *pack, const unsigned char *data, char *digits);

/* Write a packed file. The hash in `head` is zeros. values: computes the values of the self-test,
 * or NULL. False after an error when writing; the writer stays open. */
typedef struct PackedFile {
    const Plan *plan;
    const PackEntry *entries;  int count;
    const unsigned char *head;  size_t head_bytes;
    const Pack *values;
} PackedFile;
bool pack_to_file(Arena *a, FileWriter *to, const PackedFile *file);

/* A hash of everything that packed data depends on: two plans with the same key have the same
 * bytes, in every process of this version. */
uint64_t pack_key(const PackEntry *e, int n, size_t bytes);

/* The result of looking for packed data in the cache. */
typedef enum PackCached {
    PACK_NOT_CACHED,                /* the caller must pack in memory */
    PACK_CACHED,                    /* *map is the file, *data its data */
    PACK_SPOILED                    /* an error was reported */
} PackCached;
/* Map the cache file of a key, packing it first if needed; *packed: whether this call packed it. */
PackCached pack_cache_open(Arena *a, Diag *d, const Plan *p, uint64_t key, FileMap *map,
                           const unsigned char **data, bool *packed);

/* Narrow panels, in pack_formats.c: w is [outputs][in]. Biases are not touched; pack_biases packs
 * them. If w is NULL, which only group formats allow, the groups of `stored`, which have the same
 * number of bits, are copied unchanged. */
void pack_narrow(unsigned char *out, const Packed *k, const float *w, const TensorSource *stored);
void unpack_narrow(const unsigned char *from, const Packed *k, float *w);
size_t narrow_panel_bytes(const Packed *k);
void pack_biases(unsigned char *out, const Packed *k, const float *bias);

#endif
