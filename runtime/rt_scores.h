/* rt_scores.h: a classifier's numbers as probabilities. */
#ifndef RT_SCORES_H
#define RT_SCORES_H

/* The first of the largest of x[n]; NaN is never largest. -1 where all are NaN. */
int rt_likeliest(const float *x, int n);
/* The probability of x[i] among x[n]: softmax; of one number alone its sigmoid, for it stands against "no". */
double rt_probability(const float *x, int n, int i);

#endif
