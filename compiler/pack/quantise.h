/* quantise.h: quantisation to int8 and int4 in groups, and rounding to f16 and bf16, for packing
 * weights, the generic engine and tests.
 *
 * A row is cut into groups of QUANTISE_GROUP, the last padded with zeros. Each has a factor d:
 * x = d * q.
 *   int8  d = max |x| / 127, q = x / d rounded, halves away from zero: Q8_0 of GGUF
 *   int4  q in -8..7. There are six candidates for d: the x of largest magnitude is -8 d, as in
 *         Q4_0 of GGUF, or -7, -7.5, -8.5, -9 or -9.5 d. Each gives its q, to which d is fitted by
 *         least squares. The candidate with the least sum of (x - d * q)^2 is used. */
#ifndef QUANTISE_H
#define QUANTISE_H

#include <stdint.h>

#include "dtypes.h"

enum { QUANTISE_GROUP = 32, QUANTISE_ROWS = 16 };

/* One group from each of sixteen rows of weights: number i of row r is x[i][r]. d is an f16,
 * infinite if the numbers are too large, NaN if one is NaN. For int8, q is computed before d is
 * rounded to f16. */
typedef struct QuantisedGroups {
    uint16_t d[QUANTISE_ROWS];
    int32_t q[QUANTISE_GROUP][QUANTISE_ROWS];
} QuantisedGroups;
void quantise_groups(QuantisedGroups *to, float x[QUANTISE_GROUP][QUANTISE_ROWS], int bits);

/* Copy the groups at column `at` of the first sixteen rows of w[rows][width] to x. Past the last
 * row or column, x is 0. */
void quantise_take(float x[QUANTISE_GROUP][QUANTISE_ROWS], const float *w, int64_t rows,
                   int64_t width, int64_t at);

/* Quantise and dequantise w[rows][width] in place. */
void quantise_rows(float *w, int64_t rows, int64_t width, int bits);
/* One row of activations in groups, as kernels round it: d = max |x| / 127 as f32, q rounded to the
 * nearest, ties to even. */
void quantise_activations(float *to, const float *x, int64_t n);

/* Numbers from here on round to infinity in f16. */
#define F16_BEYOND 65520.0f
/* Round n numbers to f16 as a KV cache holds them: they saturate at 65504; NaN stays NaN. */
void round_to_f16(float *to, const float *x, int64_t n);

/* Round the n numbers of a head's key or value as an int8 KV cache holds them: d = max |x| / 127 as
 * f32, q rounded to the nearest, ties to even. If a number is infinite or NaN, all become NaN. */
void round_to_int8(float *to, const float *x, int64_t n);

/* The nearest bf16 (the upper half of an f32), ties to even. round_to_bf16 rounds n numbers in
 * place. */
uint16_t bf16_of_float(float x);
void round_to_bf16(float *w, int64_t n);

/* The nearest f16, ties to even. */
uint16_t half_of_float(float x);

#endif
