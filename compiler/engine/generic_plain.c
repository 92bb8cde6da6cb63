/* generic_plain.c: matrix products without a library, with the same bits on every machine: the
 * terms of a sum are added in a fixed order; if b is transposed, to sixteen partial sums, which are
 * then added. The self-test that is packed with the weights is computed with these products. */
#include "generic_blas.h"

#include <string.h>

enum { PARTS = 16 };

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
static Four at(const float *p) { return *(const Four *)(const void *)p; }

/* Add the products from i to n - 1 to the parts, then add up the parts. */
static float sum_of(const Four parts[PARTS / 4], const float *a, const float *b, int i, int n)
{
    float part[PARTS];
    memcpy(part, parts, sizeof part);
    for (int k = 0; i < n; i++, k++) part[k] += a[i] * b[i];
    for (int half = PARTS / 2; half; half /= 2)
        for (int k = 0; k < half; k++) part[k] += part[k + half];
    return part[0];
}

/* Dot products of two rows, x and y, with one row b, which is read once. Unrolled so that the sums
 * stay in registers. */
static void dots(float sums[2], const float *x, const float *y, const float *b, int n)
{
    Four x0 = { 0 }, x1 = x0, x2 = x0, x3 = x0, y0 = x0, y1 = x0, y2 = x0, y3 = x0;
    int i = 0;
    for (; i + PARTS <= n; i += PARTS) {
        const Four b0 = at(b + i), b1 = at(b + i + 4), b2 = at(b + i + 8), b3 = at(b + i + 12);
        x0 += at(x + i) * b0, y0 += at(y + i) * b0;
        x1 += at(x + i + 4) * b1, y1 += at(y + i + 4) * b1;
        x2 += at(x + i + 8) * b2, y2 += at(y + i + 8) * b2;
        x3 += at(x + i + 12) * b3, y3 += at(y + i + 12) * b3;
    }
    sums[0] = sum_of((Four[]){ x0, x1, x2, x3 }, x, b, i, n);
    sums[1] = sum_of((Four[]){ y0, y1, y2, y3 }, y, b, i, n);
}

static void row_times_columns(const BlasProduct *p, float *c, const float *a, const float *b)
{
    if (!p->add) memset(c, 0, (size_t)p->n * sizeof *c);
    for (int k = 0; k < p->k; k++)
        for (int j = 0; j < p->n; j++) c[j] += a[k] * b[(long long)k * p->b_stride + j];
}

/* One column of c, from one row of a transposed b. */
static void column_by_row(const BlasProduct *p, float *c, const float *a, const float *b)
{
    for (int i = 0; i < p->m; i += 2) {
        const int rows = i + 1 < p->m ? 2 : 1;
        const float *x = a + (long long)i * p->a_stride, *y = rows == 2 ? x + p->a_stride : x;
        float sums[2];
        dots(sums, x, y, b, p->k);
        for (int r = 0; r < rows; r++) {
            float *to = c + (long long)(i + r) * p->c_stride;
            *to = (p->add ? *to : 0) + sums[r];
        }
    }
}

void plain_product(const BlasProduct *p, float *c, const float *a, const float *b)
{
    for (int j = 0; p->transposed && j < p->n; j++)
        column_by_row(p, c + j, a, b + (long long)j * p->b_stride);
    for (int i = 0; !p->transposed && i < p->m; i++)
        row_times_columns(p, c + (long long)i * p->c_stride, a + (long long)i * p->a_stride, b);
}
