/* pack.h: write weights in the layout of the kernels, in one safetensors file.
 *
 * The header's first entry is
 * {"__metadata__":{"xformc":IDENTITY,"digests":HASH,"selftest":VALUES}}; see rt_packed.h. The
 * identity covers the graph, the layout and the KV cache's dtype, not the values, so that a built
 * program accepts new values for the same spec; the hash covers the file. An xf.graph has no
 * "selftest". The header, with its length, is padded with spaces to a multiple of 64 bytes; every
 * tensor is padded to such a multiple, too. */
#ifndef PACK_H
#define PACK_H

#include "plan.h"
#include "text.h"

/* The offset of the identity in a packed file: after the length and {"__metadata__":{"xformc":". */
enum { PACK_IDENTITY_AT = 8 + 27 };

/* The packed data of a plan: plan->weights_bytes bytes. */
typedef struct PackedData { const Plan *plan; const unsigned char *bytes; } PackedData;
/* Copy rows of a matrix out of its panels, rounded as engines use them: to[rows][in], from row
 * `first` on, which is a multiple of 16. source, layer: the matrix, by its source in a layer of the
 * block. False if no packed panels have this source. Thread-safe. */
bool unpack_rows(const PackedData *data, const TensorSource *source, int layer, int64_t first,
                 int64_t rows, float *to);

/* Compute the values of the self-test, as RT_SELFTEST_DIGITS digits; it takes as long as running
 * the model on a few sentences. */
typedef void PackSelftest(const PackedData *data, char *digits);

typedef struct Pack {
    const Plan *plan;
    const char *identity;           /* sixteen hex digits */
    size_t head_bytes;              /* length and JSON, padded */
    PackSelftest *selftest;         /* computes VALUES; NULL: they are zeros */
} Pack;

/* Identity and size of the header; reads no weights. */
Pack pack_layout(Arena *a, const Plan *p);
/* Pack every tensor and write the file. False after an error, such as a weights file that has
 * changed since it was opened. */
bool pack_write(Arena *a, Diag *d, const Pack *pack, const char *path);
/* The packed data without a header, 64-byte aligned. It is packed once for all plans with the same
 * data and, if the cache takes it, kept there for other processes. *reused: whether the data
 * existed already. NULL after an error, such as a weights file that has changed since it was
 * opened. Release the data with pack_release; unused data is kept while there is room. */
const unsigned char *pack_acquire(Arena *a, Diag *d, const Pack *pack, bool *reused);
void pack_release(const unsigned char *data);
/* True if the packed data of a plan is in the cache. */
bool pack_is_cached(Arena *a, const Plan *p);
/* True if a cache file has the hash that its header gives. */
bool pack_cache_whole(const char *path);
/* If `data` is mapped from a cache file, return a copy in pages of 2 MiB, which are read faster;
 * otherwise, or if rt_weights_copy makes no copy, for example of little data, return `data`. The
 * copy lives as long as `data`. */
const unsigned char *pack_settle(const unsigned char *data);
/* One place of a tensor of the model in packed data. rows, columns: its shape in the model (a
 * vector is one row); transposed: it is packed transposed, like a parameter of a matmul in a
 * graph. */
typedef struct PackedTensor { const Packed *packed; int part; size_t offset; int64_t rows, columns; bool transposed; } PackedTensor;
/* Round a matrix in place to a format of narrow panels. */
void round_narrow(float *w, Format f, int64_t outputs, int64_t in);
/* All places of a tensor by its name, such as encoder.0.ffn.up.weight, in the arena; *n receives
 * their number. NULL if there are none. There are several if, for example, a parameter is used by a
 * matmul and also added. Integers and tables of biases by distance have none. */
PackedTensor *pack_find(Arena *a, const Plan *p, const char *name, int *n);
/* Read, or write, the numbers at one place: values[rows][columns], row-major, as in the model. */
void pack_get(const unsigned char *data, const PackedTensor *t, float *values);
void pack_put(unsigned char *data, const PackedTensor *t, const float *values);
/* The packed file as C text, NAME_weights.c: const void *NAME_literal. False after an error, such
 * as data of more than 4,000,000 bytes. */
bool pack_literal(Arena *a, Diag *d, const Pack *pack, Text *out);

#endif
