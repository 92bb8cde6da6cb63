/* rt_scores.c: largest numbers; softmax, sigmoid and similarities, computed in double. */
#include "rt_scores.h"

#include <math.h>

int rt_argmax(const float *x, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i]) && (best < 0 || x[i] > x[best])) best = i;
    return best;
}

int rt_largest(const float *x, int n, int *places, int most)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int at = count;
        if (isnan(x[i])) continue;
        while (at > 0 && x[i] > x[places[at - 1]]) at--;
        if (at >= most) continue;
        if (count < most) count++;
        for (int k = count - 1; k > at; k--) places[k] = places[k - 1];
        places[at] = i;
    }
    return count;
}

double rt_probability(const float *x, int n, int i)
{
    const int best = rt_argmax(x, n);
    double sum = 0;
    if (n == 1) return 1 / (1 + exp(-(double)x[0]));
    for (int k = 0; k < n; k++) sum += exp((double)x[k] - (double)x[best < 0 ? 0 : best]);
    return exp((double)x[i] - (double)x[best < 0 ? 0 : best]) / sum;
}

double rt_score(RtScoring kind, const float *x, int n, int i)
{
    if (kind == RT_SCORING_NONE) return (double)x[i];
    return kind == RT_SCORING_SIGMOID ? 1 / (1 + exp(-(double)x[i])) : rt_probability(x, n, i);
}

int rt_answered(RtScoring kind, const float *x, int n, int *places)
{
    int count = rt_largest(x, n, places, kind == RT_SCORING_SIGMOID ? n : 1);
    while (kind == RT_SCORING_SIGMOID && n > 1 && count && x[places[count - 1]] <= 0) count--;
    return count;
}

double rt_similarity(RtSimilarity kind, const float *a, const float *b, int n)
{
    double both = 0, first = 0, second = 0, squares = 0, steps = 0;
    for (int i = 0; i < n; i++) {
        const double x = (double)a[i], y = (double)b[i];
        both += x * y;
        first += x * x;
        second += y * y;
        squares += (x - y) * (x - y);
        steps += fabs(x - y);
    }
    switch (kind) {
    case RT_SIMILARITY_DOT:       return both;
    case RT_SIMILARITY_EUCLIDEAN: return -sqrt(squares);
    case RT_SIMILARITY_MANHATTAN: return -steps;
    default:                      return first > 0 && second > 0 ? both / (sqrt(first) * sqrt(second)) : 0;
    }
}
