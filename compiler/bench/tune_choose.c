/* tune_choose.c: choose the fastest way by the measured times, or keep the default one. */
#include "tune.h"

int tune_choose(Arena *a, const double *const *ns, int ways, int rounds)
{
    enum { LEAST_ROUNDS = 3 };
    const double least_gain = 0.02;
    double best = 1, *ratios = arena_array(a, (size_t)rounds, sizeof *ratios);
    int winner = 0;
    for (int k = 1; k < ways && rounds >= LEAST_ROUNDS; k++) {
        for (int i = 0; i < rounds; i++) ratios[i] = ns[k][i] / ns[0][i];
        const double median = bench_quantile(ratios, rounds, 0.5), gain = 1 - median;
        const double spread = bench_quantile(ratios, rounds, 0.75) - bench_quantile(ratios, rounds, 0.25);
        if (gain < least_gain || gain <= spread || median >= best) continue;
        best = median;
        winner = k;
    }
    return winner;
}
