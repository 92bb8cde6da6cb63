/* rt_packed.h: the header of a packed weights file: its hash and its self-test.
 *
 * A file begins with the length of its header, 8 bytes, little-endian like all its numbers; then
 * comes JSON that begins with
 *   {"__metadata__":{"xformc":"IDENTITY","digests":"HASH","selftest":"VALUES"}
 * IDENTITY and HASH are sixteen hex digits; VALUES has eight hex digits, the bits, for each of
 * RT_SELFTEST_VALUES floats. An xf.graph has no VALUES. HASH covers the 64 bytes before it and the
 * digests of the 1 MiB blocks after it. Older files have "content" in place of "digests": then HASH
 * is the FNV-1a hash of the whole file with sixteen zeros in place of HASH. Weights emitted as C
 * (--weights literal) are the same bytes, except that on a big-endian machine the numbers and the
 * length are big-endian and HASH is that of these bytes. */
#ifndef RT_PACKED_H
#define RT_PACKED_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RT_PACKED_DIGITS = 16,
    /* Bytes from the start of the file. */
    RT_PACKED_IDENTITY_AT = 35, RT_PACKED_KIND_AT = 54, RT_PACKED_CONTENT_AT = 64,
    RT_PACKED_SELFTEST_AT = 94,
    /* Start and size of the blocks of the digests. */
    RT_PACKED_DATA_AT = RT_PACKED_CONTENT_AT + RT_PACKED_DIGITS, RT_PACKED_BLOCK = 1 << 20,
    RT_SELFTEST_VALUES = 128, RT_SELFTEST_DIGITS = 8 * RT_SELFTEST_VALUES,
    RT_SELFTEST_SOURCE = 96, RT_SELFTEST_ROWS = 16              /* maximum number of ids of source and target */
};

/* FNV-1a, 64 bits, of `n` more bytes. */
static const uint64_t rt_hash_start = 14695981039346656037u;
uint64_t rt_hash(uint64_t h, const void *data, size_t n);
/* A file's HASH is the digest of the 64 bytes before it, joined with the digest of each block of
 * RT_PACKED_BLOCK bytes after it; the last block may be shorter. A digest reads 32 bytes at a time,
 * as four numbers; it is about as fast as memory. */
uint64_t rt_digest(const void *data, size_t n);
uint64_t rt_digest_join(uint64_t h, uint64_t digest);
/* The HASH of a file of at least RT_PACKED_DATA_AT bytes, of the kind that its header names. */
uint64_t rt_packed_content(const void *file, size_t bytes);
/* The value of sixteen lower-case hex digits; 0 if any character is not one. */
uint64_t rt_packed_number(const char *digits);

/* ---- the self-test: a fixed input, and a sample of the output ------------------------------ *
 * The source is the ids 0, 1, 2 ..; the target is the start id, or 0 if there is none, then ids
 * from the end of the vocabulary downwards. A program decodes all rows but the last in calls of as
 * many rows as fit, then the last row by itself. The values that are kept are spread evenly over
 * the logits of all rows, or over the hidden states of an encoder; an encoder with a head keeps
 * half as many of these, followed by as many from the head's output. */

int rt_selftest_source(int *ids, int longest, int vocab);                           /* [RT_SELFTEST_SOURCE]; returns how many */
int rt_selftest_target(int *ids, int longest, int vocab, int start);                /* [RT_SELFTEST_ROWS]; likewise */
/* values[room] are spread evenly over [rows][width]. Set those in rows first .. first + n, from
 * x[n][stride]; the others do not change. Initialise values with zeros. */
void rt_selftest_keep(float *values, int room, int rows, int width, const float *x, int first, int n, int stride);
void rt_selftest_write(char *digits, const float *values);                          /* [RT_SELFTEST_DIGITS], no NUL */
/* False if any is not a hex digit, or all are zeros: the file was packed without a self-test. */
int rt_selftest_read(float *values, const char *digits);
/* The largest difference divided by the largest absolute value in `expected`; infinity if any value
 * is NaN or infinite. */
double rt_selftest_distance(const float *values, const float *expected);

#ifdef __cplusplus
}
#endif

#endif
