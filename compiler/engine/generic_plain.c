/* generic_plain.c: the same products without a library, to the same bits on every machine: sums in sixteen parts, in one
 * order. It makes what is packed beside the weights; it is not an engine of its own. */
#include "generic_blas.h"

#include <string.h>

enum { PARTS = 16 };

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct Parts { Four four[PARTS / 4]; } Parts;

/* What is left of n, and the sum. */
static float sum_of(const Parts *sums, const float *a, const float *b, int i, int n)
{
    float part[PARTS];
    memcpy(part, sums, sizeof part);
    for (int k = 0; i < n; i++, k++) part[k] += a[i] * b[i];
    for (int half = PARTS / 2; half; half /= 2)
        for (int k = 0; k < half; k++) part[k] += part[k + half];
    return part[0];
}

/* Two rows of a with one of b, which is read once. */
static void dots(float sums[2], const float *a0, const float *a1, const float *b, int n)
{
    Parts p0 = { { { 0 } } }, p1 = { { { 0 } } };
    int i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int k = 0; k < PARTS / 4; k++) {
            const Four of_b = *(const Four *)(const void *)(b + i + 4 * k);
            p0.four[k] += *(const Four *)(const void *)(a0 + i + 4 * k) * of_b;
            p1.four[k] += *(const Four *)(const void *)(a1 + i + 4 * k) * of_b;
        }
    sums[0] = sum_of(&p0, a0, b, i, n);
    sums[1] = sum_of(&p1, a1, b, i, n);
}

static void row_times_columns(const BlasProduct *p, float *c, const float *a, const float *b)
{
    if (!p->add) memset(c, 0, (size_t)p->n * sizeof *c);
    for (int k = 0; k < p->k; k++)
        for (int j = 0; j < p->n; j++) c[j] += a[k] * b[(long long)k * p->b_stride + j];
}

void plain_product(const BlasProduct *p, float *c, const float *a, const float *b)
{
    for (int i = 0; !p->transposed && i < p->m; i++)
        row_times_columns(p, c + (long long)i * p->c_stride, a + (long long)i * p->a_stride, b);
    for (int j = 0; p->transposed && j < p->n; j++)
        for (int i = 0; i < p->m; i += 2) {
            const int other = i + 1 < p->m ? i + 1 : i;
            float *y[2] = { c + (long long)i * p->c_stride + j, c + (long long)other * p->c_stride + j }, sums[2];
            dots(sums, a + (long long)i * p->a_stride, a + (long long)other * p->a_stride, b + (long long)j * p->b_stride, p->k);
            for (int r = 0; r < 1 + (other > i); r++) *y[r] = (p->add ? *y[r] : 0) + sums[r];
        }
}
