/* rt_packed.h: the head of a file of packed weights, and what a program can ask of it.
 *
 * A file begins with the length of its head, 8 bytes little-endian as all its numbers are, then JSON that begins with
 *   {"__metadata__":{"xformc":"IDENTITY","digests":"HASH","selftest":"VALUES"}
 * IDENTITY and HASH have sixteen hex digits, VALUES eight for each of RT_SELFTEST_VALUES floats: their bits. An xf.graph
 * has no VALUES. HASH is that of the 64 bytes before it and of the digests of the blocks of 1 MB behind it. Older files
 * have "content" for "digests": FNV-1a of the whole file with sixteen zeros in the place of HASH. Weights as C (--weights
 * literal) are the same bytes, but for a big-endian machine its numbers, the length too, and the HASH of that. */
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
    /* Blocks that digests cover begin here, and are so long. */
    RT_PACKED_DATA_AT = RT_PACKED_CONTENT_AT + RT_PACKED_DIGITS, RT_PACKED_BLOCK = 1 << 20,
    RT_SELFTEST_VALUES = 128, RT_SELFTEST_DIGITS = 8 * RT_SELFTEST_VALUES,
    RT_SELFTEST_SOURCE = 96, RT_SELFTEST_ROWS = 16                                          /* most ids of its input */
};

/* FNV-1a, 64 bits, of `n` more bytes. */
static const uint64_t rt_hash_start = 14695981039346656037u;
uint64_t rt_hash(uint64_t h, const void *data, size_t n);
/* A file's HASH: the digest of the 64 bytes before it, joined with those of each RT_PACKED_BLOCK
 * bytes behind it, the last block shorter. A digest takes 32 bytes at a time, as four numbers:
 * about as fast as memory. */
uint64_t rt_digest(const void *data, size_t n);
uint64_t rt_digest_join(uint64_t h, uint64_t digest);
/* The HASH of a file of at least RT_PACKED_DATA_AT bytes, of the kind that its head names. */
uint64_t rt_packed_content(const void *file, size_t bytes);
/* Sixteen hex digits as a number; 0 where they are none. */
uint64_t rt_packed_number(const char *digits);

/* ---- the self-test: a fixed input, and some of what comes out ----------------------------------------------- *
 * A source is 0, 1, 2 .. ids of the vocabulary, a target the start mark and then the vocabulary from its end: all but the
 * last row in one call, the last alone. What is kept is spread evenly over the logits of all rows, or over the hidden states
 * of an encoder; one with a head keeps half as many of these, and then of what the head makes. */

int rt_selftest_source(int *ids, int longest, int vocab);                           /* [RT_SELFTEST_SOURCE]; returns how many */
int rt_selftest_target(int *ids, int longest, int vocab, int start);                /* [RT_SELFTEST_ROWS]; likewise */
/* Of values[room], spread over [all rows][width], those of rows first .. first + n:
 * x[n][stride]. What no call gives stays as it was; begin with zeros. */
void rt_selftest_keep(float *values, int room, int rows, int width, const float *x, int first, int n, int stride);
void rt_selftest_write(char *digits, const float *values);                          /* [RT_SELFTEST_DIGITS], no NUL */
/* False where `digits` are none, or all zeros: the file was packed without. */
int rt_selftest_read(float *values, const char *digits);
/* The largest difference over the largest of `expected`; infinity where a value is not a number. */
double rt_selftest_distance(const float *values, const float *expected);

#ifdef __cplusplus
}
#endif

#endif
