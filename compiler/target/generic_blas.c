/* generic_blas.c: the only file that knows OpenBLAS. One row goes to sgemv on one thread, since threads cost more than
 * a vector saves; more rows go to sgemm on all of them. */
#include "generic_blas.h"

#include <cblas.h>
#include <string.h>

/* The number of threads belongs to the process: it is set only when it changes. */
static void use_threads(int n)
{
    static int used;
    if (n != used) openblas_set_num_threads(n);
    used = n;
}

/* sgemv with beta 0 may keep a NaN that the result held, so zeros are written first. */
static void product_of_vector(const BlasProduct *p, float *c, const float *a, const float *b)
{
    use_threads(1);
    if (!p->add) memset(c, 0, (size_t)p->n * sizeof *c);
    if (p->transposed) cblas_sgemv(CblasRowMajor, CblasNoTrans, p->n, p->k, 1, b, p->b_stride, a, 1, 1, c, 1);
    else cblas_sgemv(CblasRowMajor, CblasTrans, p->k, p->n, 1, b, p->b_stride, a, 1, 1, c, 1);
}

void blas_product(const BlasProduct *p, float *c, const float *a, const float *b)
{
    if (p->m == 1) {
        product_of_vector(p, c, a, b);
        return;
    }
    use_threads(p->lanes);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, p->transposed ? CblasTrans : CblasNoTrans, p->m, p->n, p->k, 1, a, p->a_stride,
                b, p->b_stride, p->add ? 1 : 0, c, p->c_stride);
}
