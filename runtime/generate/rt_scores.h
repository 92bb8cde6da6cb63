/* rt_scores.h: a classifier's numbers as probabilities, and how near vectors are. */
#ifndef RT_SCORES_H
#define RT_SCORES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The first of the largest of x[n]; NaN is never largest. -1 where all are NaN. */
int rt_argmax(const float *x, int n);
/* The places of the `most` largest of x[n], largest first, of equal ones the first; returns how many there are. NaN is none. */
int rt_largest(const float *x, int n, int *places, int most);
/* What the numbers of labels are answered as: of one that holds the probability, of several that may hold each alone the sigmoid, or as they are. */
typedef enum RtScoring { RT_SCORING_SOFTMAX, RT_SCORING_SIGMOID, RT_SCORING_NONE } RtScoring;
/* The score of x[i] among x[n]. */
double rt_score(RtScoring kind, const float *x, int n, int i);
/* The places of what is answered, largest first: the most likely, or by RT_SCORING_SIGMOID of several those above 0.5. places: [n] */
int rt_answered(RtScoring kind, const float *x, int n, int *places);

/* The probability of x[i] among x[n]: softmax; of one number alone its sigmoid, for it stands against "no". */
double rt_probability(const float *x, int n, int i);

/* How near a[n] and b[n] are: the cosine of the angle between them, 0 where one of them is all zeros; their product; or their
 * distance, straight or along the axes, below 0. */
typedef enum RtSimilarity { RT_SIMILARITY_COSINE, RT_SIMILARITY_DOT, RT_SIMILARITY_EUCLIDEAN, RT_SIMILARITY_MANHATTAN } RtSimilarity;
double rt_similarity(RtSimilarity kind, const float *a, const float *b, int n);

#ifdef __cplusplus
}
#endif

#endif
