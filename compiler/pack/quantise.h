/* quantise.h: numbers as whole numbers of few bits, group by group; what packs weights and what checks kernels share.
 *
 * A row is cut into groups of QUANTISE_GROUP, the last padded with zeros, each with a factor d: x = d * q.
 *   int8  d = max |x| / 127, q = x / d rounded, halves away from zero: Q8_0 of GGUF
 *   int4  q of -8..7 and the d that leave the least sum of squares of x - d * q, of six that are tried: the x of
 *         largest size is -8 d, as in Q4_0 of GGUF, or -7 to -9.5 d */
#ifndef QUANTISE_H
#define QUANTISE_H

#include <stdint.h>

#include "dtypes.h"

enum { QUANTISE_GROUP = 32, QUANTISE_ROWS = 16 };

/* A group of each of sixteen rows of weights: number i of row r is x[i][r]. d is an f16, an
 * infinity where numbers are too large; of int8, q is made with it unrounded. */
typedef struct QuantisedGroups {
    uint16_t d[QUANTISE_ROWS];
    int32_t q[QUANTISE_GROUP][QUANTISE_ROWS];
} QuantisedGroups;
void quantise_groups(QuantisedGroups *to, float x[QUANTISE_GROUP][QUANTISE_ROWS], int bits);

/* The group at column `at` of rows 0..rows-1, sixteen at most, of w, [rows][width], to x, with
 * zeros behind the last row and the last column. */
void quantise_take(float x[QUANTISE_GROUP][QUANTISE_ROWS], const float *w, int64_t rows,
                   int64_t width, int64_t at);

/* Rows of weights as what they are once they were quantised, in place. */
void quantise_rows(float *w, int64_t rows, int64_t width, int bits);
/* One row of activations, as kernels round them: d = max |x| / 127 as f32, q rounded to the
 * nearest, ties to even. */
void quantise_activations(float *to, const float *x, int64_t n);

/* From here on f16 has no number but infinity. */
#define F16_BEYOND 65520.0f
/* n numbers as the f16 that a cache holds: what lies beyond 65504, the largest, becomes that;
 * NaN stays NaN. */
void round_to_f16(float *to, const float *x, int64_t n);

/* The nearest bf16, the upper half of an f32, ties to even; n numbers as what they are then, in
 * place. */
uint16_t bf16_of_float(float x);
void round_to_bf16(float *w, int64_t n);

/* The nearest f16, ties to even. */
uint16_t half_of_float(float x);

#endif
