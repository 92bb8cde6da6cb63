/* quantise_groups.c: quantise weights to int8 and int4 in groups; see quantise.h. A SIMD vector
 * holds one column of several rows, one row per lane: no sum crosses lanes, and vectors are already
 * in the order of panels, which hold sixteen outputs side by side. */
#include "quantise.h"

#include <math.h>
#include <string.h>


#define LANES 4
#define NAME(word) word##_of_four
#define TARGET
#include "quantise_lanes.h"
#undef LANES
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define LANES 8
#define NAME(word) word##_of_eight
#define TARGET __attribute__((target("avx2")))
#include "quantise_lanes.h"
#endif

/* AVX-512 is not used: sixteen lanes were only 1.1 times as fast as eight (Zen 4, gcc). */
void quantise_groups(QuantisedGroups *to, float x[QUANTISE_GROUP][QUANTISE_ROWS], int bits)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        quantise_of_eight(to, x, bits);
        return;
    }
#endif
    quantise_of_four(to, x, bits);
}

void quantise_take(float x[QUANTISE_GROUP][QUANTISE_ROWS], const float *w, int64_t rows,
                   int64_t width, int64_t at)
{
    const int64_t left = width - at, n = left < QUANTISE_GROUP ? left : QUANTISE_GROUP;
    if (rows < QUANTISE_ROWS || n < QUANTISE_GROUP)
        memset(x, 0, QUANTISE_GROUP * sizeof *x);
    for (int64_t r = 0; r < rows && r < QUANTISE_ROWS; r++)
        for (int64_t i = 0; i < n; i++) x[i][r] = w[r * width + at + i];
}

void quantise_rows(float *w, int64_t rows, int64_t width, int bits)
{
    for (int64_t row = 0; row < rows; row += QUANTISE_ROWS, w += QUANTISE_ROWS * width)
        for (int64_t at = 0; at < width; at += QUANTISE_GROUP) {
            float x[QUANTISE_GROUP][QUANTISE_ROWS];
            QuantisedGroups g;
            quantise_take(x, w, rows - row, width, at);
            quantise_groups(&g, x, bits);
            for (int64_t r = 0; r < rows - row && r < QUANTISE_ROWS; r++) {
                const float d = float_of_half(g.d[r]);
                for (int64_t i = 0; i < QUANTISE_GROUP && at + i < width; i++)
                    w[r * width + at + i] = d * (float)g.q[i][r];
            }
        }
}
