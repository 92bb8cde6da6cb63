/* pack.h: weights in the layout that the loops want, in one safetensors file.
 *
 * The head's first entry is {"__metadata__":{"xformc":IDENTITY,"digests":HASH,"selftest":VALUES}}; see rt_packed.h. The
 * identity covers the graph and the layout, not the values, so that other values for the same spec fit a program already
 * built; the hash covers the file. The head is padded with spaces to a multiple of 64 bytes, its length included, and so is
 * every tensor. */
#ifndef PACK_H
#define PACK_H

#include "plan.h"
#include "text.h"

/* Where the identity stands in a packed file: after the length and {"__metadata__":{"xformc":". */
enum { PACK_IDENTITY_AT = 8 + 27 };

/* The packed data of a plan, plan->weights_bytes of them. */
typedef struct PackedData { const Plan *plan; const unsigned char *bytes; } PackedData;
/* Rows of a matrix that lies there in panels, as engines compute with them: to[rows][in], from
 * row `first` on, a multiple of 16. source: where its numbers come from, layer: of its block.
 * False where no matrix in panels has these numbers. Threads may call it. */
bool unpack_rows(const PackedData *data, const TensorSource *source, int layer, int64_t first,
                 int64_t rows, float *to);

/* The values of the self-test as RT_SELFTEST_DIGITS digits, which take as long as a few
 * sentences. */
typedef void PackSelftest(const PackedData *data, char *digits);

typedef struct Pack {
    const Plan *plan;
    const char *identity;           /* sixteen hex digits */
    size_t head_bytes;              /* length and JSON, padded */
    PackSelftest *selftest;         /* computes its VALUES; NULL: they are zeros */
} Pack;

/* Identity and size of the head; reads no weights. */
Pack pack_layout(Arena *a, const Plan *p);
/* Pack every tensor and write the file. False after an error. */
bool pack_write(Arena *a, Diag *d, const Pack *pack, const char *path);
/* The data alone, packed once for all plans that have the same, and kept in the cache for other
 * processes: 64-byte aligned; *reused tells whether it was there. NULL after an error: its files
 * were written to meanwhile. Give it back with pack_release; what nobody uses stays while there is
 * room for it. */
const unsigned char *pack_acquire(Arena *a, Diag *d, const Pack *pack, bool *reused);
void pack_release(const unsigned char *data);
/* Whether it lies in the cache. */
bool pack_is_cached(Arena *a, const Plan *p);
/* Whether a file of the cache has the hash that its head says. */
bool pack_cache_whole(const char *path);
/* Of data that lies in a file of the cache a copy in pages of 2 MB, which are read faster, where it
 * takes up to a quarter of the memory; else `data`, as for what else is not known. It lives as
 * long. */
const unsigned char *pack_settle(const unsigned char *data);
/* One place of a tensor of the model in packed data. rows, columns: as the model has it (a
 * vector is one row); transposed: it lies there transposed, as the parameter of a matmul in a
 * graph does. */
typedef struct PackedTensor { const Packed *packed; int part; size_t offset; int64_t rows, columns; bool transposed; } PackedTensor;
/* A matrix in place, as a format of narrow panels leaves it. */
void round_narrow(float *w, Format f, int64_t outputs, int64_t in);
/* Every place of a tensor by its name, as encoder.0.ffn.up.weight, in the arena; NULL where
 * there is none. There may be several: a parameter that is both a factor of a matmul and added.
 * Computed tables, and integers, are none. */
PackedTensor *pack_find(Arena *a, const Plan *p, const char *name, int *n);
/* Its numbers, [rows][columns] row-major, as the model has them: taken out, put in. */
void pack_get(const unsigned char *data, const PackedTensor *t, float *values);
void pack_put(unsigned char *data, const PackedTensor *t, const float *values);
/* The same as the text of NAME_weights.c: const void *NAME_literal. Refused above a million
 * values. */
bool pack_literal(Arena *a, Diag *d, const Pack *pack, Text *out);

#endif
