/* generic_blas.h: matrix products, by OpenBLAS and by plain loops. */
#ifndef GENERIC_BLAS_H
#define GENERIC_BLAS_H

#include <stdbool.h>

#include "diag.h"

/* c[m][n] = a[m][k] times b, which is [k][n], or [n][k] if transposed. Strides in floats. */
typedef struct BlasProduct {
    int m, n, k;
    int a_stride, b_stride, c_stride;
    bool transposed;                /* b is [n][k] */
    bool add;                       /* add to c instead of overwriting it */
    int threads;                    /* for OpenBLAS; with m = 1 it uses one thread */
} BlasProduct;

/* m, n and k are at least 1. If c is overwritten, its old content, even NaN, does not matter. */
typedef void Product(const BlasProduct *p, float *c, const float *a, const float *b);
Product blas_product;               /* needs: blas_load returned true */
Product plain_product;              /* same bits on every machine, however the work is split */

/* Load OpenBLAS, once per process, with one thread unless OPENBLAS_NUM_THREADS or the like is set;
 * products ask for more. False after an error with exit code 69: it cannot be loaded, or there is
 * no memory for its buffers. */
bool blas_load(Diag *d);
/* Let OpenBLAS start its threads; products may then ask for up to n. False if the system cannot
 * start them, or has no memory for their buffers. */
bool blas_start_threads(int n);

#endif
