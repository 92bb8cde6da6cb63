/* generic_blas.h: products of matrices by OpenBLAS, with its threads set as its user would set them; and by plain loops. */
#ifndef GENERIC_BLAS_H
#define GENERIC_BLAS_H

#include <stdbool.h>

#include "diag.h"

/* c[m][n] = a[m][k] times b, which is [k][n], or [n][k] where it is transposed. Strides in floats. */
typedef struct BlasProduct {
    int m, n, k;
    int a_stride, b_stride, c_stride;
    bool transposed;                /* b is [n][k] */
    bool add;                       /* to what c holds, instead of overwriting it */
    int threads;                    /* threads for a matrix; one row is a vector and takes one thread */
} BlasProduct;

/* m, n and k are at least 1. Where c is overwritten, it may have held anything. */
typedef void Product(const BlasProduct *p, float *c, const float *a, const float *b);
Product blas_product;               /* once blas_load was true */
Product plain_product;              /* the same bits on every machine, however it is cut */

/* Load OpenBLAS, once in a process, with one thread unless OPENBLAS_NUM_THREADS says otherwise; products ask for more. False after an error
 * with exit code 69: there is none, or no memory for its buffers. */
bool blas_load(Diag *d);
/* Have it start its threads, so that products may ask for so many. False: the system gives none, or no memory for their buffers. */
bool blas_start_threads(int n);

#endif
