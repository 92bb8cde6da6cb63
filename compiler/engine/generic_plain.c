/* generic_plain.c: the same products without a library, to the same bits on every machine: sums in sixteen parts, in one
 * order. It makes what is packed beside the weights; it is not an engine of its own. */
#include "generic_blas.h"

#include <string.h>

enum { PARTS = 16 };

static float dot(const float *a, const float *b, int n)
{
    float part[PARTS] = { 0 };
    int i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int k = 0; k < PARTS; k++) part[k] += a[i + k] * b[i + k];
    for (int k = 0; i < n; i++, k++) part[k] += a[i] * b[i];
    for (int half = PARTS / 2; half; half /= 2)
        for (int k = 0; k < half; k++) part[k] += part[k + half];
    return part[0];
}

static void row_times_columns(const BlasProduct *p, float *c, const float *a, const float *b)
{
    if (!p->add) memset(c, 0, (size_t)p->n * sizeof *c);
    for (int k = 0; k < p->k; k++)
        for (int j = 0; j < p->n; j++) c[j] += a[k] * b[(long long)k * p->b_stride + j];
}

void plain_product(const BlasProduct *p, float *c, const float *a, const float *b)
{
    for (int i = 0; i < p->m; i++) {
        float *y = c + (long long)i * p->c_stride;
        const float *x = a + (long long)i * p->a_stride;
        if (!p->transposed) row_times_columns(p, y, x, b);
        for (int j = 0; p->transposed && j < p->n; j++)
            y[j] = (p->add ? y[j] : 0) + dot(x, b + (long long)j * p->b_stride, p->k);
    }
}
