/* tune_choose.c: a winner from times, or nobody. */
#include <stdlib.h>

#include "tune.h"

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted numbers, between the two nearest. */
static double at_share(const double *x, int n, double share)
{
    const double place = share * (n - 1);
    const int i = (int)place;
    return i + 1 < n ? x[i] + (place - i) * (x[i + 1] - x[i]) : x[n - 1];
}

int tune_choose(Arena *a, const double *const *ns, int ways, int rounds)
{
    enum { LEAST_ROUNDS = 3 };
    const double least_gain = 0.02;
    double best = 1, *ratios = arena_array(a, (size_t)rounds, sizeof *ratios);
    int winner = 0;
    for (int k = 1; k < ways && rounds >= LEAST_ROUNDS; k++) {
        for (int i = 0; i < rounds; i++) ratios[i] = ns[k][i] / ns[0][i];
        qsort(ratios, (size_t)rounds, sizeof *ratios, by_size);
        const double median = at_share(ratios, rounds, 0.5), gain = 1 - median;
        const double spread = at_share(ratios, rounds, 0.75) - at_share(ratios, rounds, 0.25);
        if (gain < least_gain || gain <= spread || median >= best) continue;
        best = median;
        winner = k;
    }
    return winner;
}
