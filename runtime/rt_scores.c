/* rt_scores.c: softmax and sigmoid, in double. */
#include "rt_scores.h"

#include <math.h>

int rt_likeliest(const float *x, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i]) && (best < 0 || x[i] > x[best])) best = i;
    return best;
}

double rt_probability(const float *x, int n, int i)
{
    const int best = rt_likeliest(x, n);
    double sum = 0;
    if (n == 1) return 1 / (1 + exp(-(double)x[0]));
    for (int k = 0; k < n; k++) sum += exp((double)x[k] - (double)x[best < 0 ? 0 : best]);
    return exp((double)x[i] - (double)x[best < 0 ? 0 : best]) / sum;
}
