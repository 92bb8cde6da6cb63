/* rt_scores.h: a classifier's numbers as probabilities, and vectors by their cosine. */
#ifndef RT_SCORES_H
#define RT_SCORES_H

/* The first of the largest of x[n]; NaN is never largest. -1 where all are NaN. */
int rt_likeliest(const float *x, int n);
/* The places of the `most` largest of x[n], largest first, of equal ones the first; returns how many there are. NaN is none. */
int rt_largest(const float *x, int n, int *places, int most);
/* The probability of x[i] among x[n]: softmax; of one number alone its sigmoid, for it stands against "no". */
double rt_probability(const float *x, int n, int i);

/* The cosine of the angle between a[n] and b[n]; 0 where one of them is all zeros. */
double rt_cosine(const float *a, const float *b, int n);

#endif
