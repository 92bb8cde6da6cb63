/* kernel_test.h: shared by the kernel tests: when programs and cases are skipped, random numbers,
 * guarded buffers, comparisons, panels. The references are plain loops in double; check_close
 * compares results with them. */
#ifndef KERNEL_TEST_H
#define KERNEL_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernels.h"
#include "patience.h"

#define TOLERANCE 1e-6              /* |f32 - exact| / magnitude, per element */
#define COUNT(a) (sizeof(a) / sizeof (a)[0])

/* Before main: skip the program if this processor lacks its instruction set. */
__attribute__((constructor)) static void skip_where_it_cannot_run(void)
{
    const unsigned missing = rt_isa_missing(RT_ISA_BUILT);
    if (!missing) return;
    printf("ok 1 # SKIP this processor has no %s\n1..1\n", rt_isa_text(missing));
    exit(0);
}

/* KERNEL_TEST_SHARE=N runs one in N cases of a sweep; on an emulated processor a whole sweep takes
 * minutes. Default 1: all. */
static inline uint32_t test_share(void)
{
    const char *text = getenv("KERNEL_TEST_SHARE");
    const int share = text ? atoi(text) : 1;
    return share > 1 ? (uint32_t)share : 1;
}

static inline int left_out(void)
{
    static uint32_t cases;
    return cases++ % test_share() != 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static inline uint32_t random_bits(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static inline float random_float(void) { return (float)(random_bits() >> 8) / 8388608.0f - 1; }     /* -1 .. 1 */
static inline int padded16(int n) { return (n + 15) / 16 * 16; }

/* ---- buffers --------------------------------------------------------------------------------- */

enum { GUARD = 32 };                /* floats before and after a buffer */
static const uint32_t guard_bits = 0x7fc5a5a5u;                         /* a NaN, so that reading it shows in the result */

typedef struct Buffer { float *data; size_t n; } Buffer;

static inline void fill_guard(float *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(p + i, &guard_bits, sizeof *p);
}

/* n floats between guards, all of them NaN until written. */
static inline Buffer buffer(size_t n)
{
    Buffer b = { aligned_alloc(64, (n + 2 * GUARD + 15) / 16 * 64), n };
    assert_non_null(b.data);
    fill_guard(b.data, (n + 2 * GUARD + 15) / 16 * 16);
    b.data += GUARD;
    return b;
}

static inline int is_guard(const float *p) { return !memcmp(p, &guard_bits, sizeof *p); }

static inline void check_guards(Buffer b)
{
    for (int i = 1; i <= GUARD; i++)
        assert_true(is_guard(b.data - i) && is_guard(b.data + b.n + i - 1));
}

static inline void release(Buffer b)
{
    check_guards(b);
    free(b.data - GUARD);
}

/* rows x width random numbers. The padding of each row stays NaN, so that reading it shows. */
static inline Buffer random_rows(int rows, int width, int stride)
{
    Buffer b = buffer((size_t)rows * (size_t)stride);
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++)
            b.data[r * stride + i] = random_float();
    return b;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* A number in double, and the sum of the absolute values of its terms. Rounding errors are
 * proportional to that sum; the number itself may be a small difference of large terms. */
typedef struct Exact { double value, magnitude; } Exact;

static inline void exact_add(Exact *e, double term) { e->value += term, e->magnitude += fabs(term); }

static inline void check_close(const float *got, int stride, const Exact *want, int rows, int width)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++) {
            const double a = got[r * stride + i];
            const Exact b = want[r * width + i];
            if (!(fabs(a - b.value) <= TOLERANCE * b.magnitude))
                fail_msg("row %d, column %d: %.9g instead of %.9g, of magnitude %.3g", r, i, a, b.value, b.magnitude);
        }
}

static inline void check_same_bits(const float *a, const float *b, size_t n)
{
    if (n) assert_memory_equal(a, b, n * sizeof *a);
}

/* Columns width .. padded16(width) - 1 of each row are zero; those after them are untouched. */
static inline void check_padding(const float *y, int stride, int rows, int width)
{
    for (int r = 0; r < rows; r++)
        for (int i = width; i < stride; i++)
            assert_true(i < padded16(width) ? y[r * stride + i] == 0 : is_guard(y + r * stride + i));
}

/* ---- panels ---------------------------------------------------------------------------------- */

/* w [out][in] and bias [out] (or NULL) as panels of sixteen outputs, the last padded with zeros. */
static inline Buffer panels(const float *w, const float *bias, int out, int in)
{
    const int depth = in + (bias != NULL);
    Buffer b = buffer((size_t)padded16(out) * (size_t)depth);
    float *p = b.data;
    for (int o = 0; o < out; o += 16) {
        for (int l = 0; bias && l < 16; l++)
            *p++ = o + l < out ? bias[o + l] : 0;
        for (int i = 0; i < in; i++)
            for (int l = 0; l < 16; l++)
                *p++ = o + l < out ? w[(o + l) * in + i] : 0;
    }
    return b;
}

#endif
