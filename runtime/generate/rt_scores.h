/* rt_scores.h: probabilities from a classifier's outputs, and the similarity of vectors. */
#ifndef RT_SCORES_H
#define RT_SCORES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The index of the first maximum of x[n], ignoring NaN; -1 if all are NaN. */
int rt_argmax(const float *x, int n);
/* Write the indices of the `most` largest of x[n] to places, largest first, equal ones by ascending
 * index, ignoring NaN. Returns their number. */
int rt_largest(const float *x, int n, int *places, int most);
/* How a classifier's outputs are reported: as their softmax if one label applies, as the sigmoid of
 * each if several may apply, or as they are. */
typedef enum RtScoring { RT_SCORING_SOFTMAX, RT_SCORING_SIGMOID, RT_SCORING_NONE } RtScoring;
/* The score of x[i] among x[n]. */
double rt_score(RtScoring kind, const float *x, int n, int i);
/* Write the indices of the reported labels to places[n], largest first: the one with the highest
 * score or, with RT_SCORING_SIGMOID and several labels, those above 0.5. Returns their number. */
int rt_answered(RtScoring kind, const float *x, int n, int *places);

/* The probability of x[i] among x[n]: the softmax; for a single number, its sigmoid (yes against
 * no). */
double rt_probability(const float *x, int n, int i);

/* How similar a[n] and b[n] are: the cosine of the angle between them, 0 if one of them is all
 * zeros; their dot product; or their negative Euclidean or Manhattan distance. */
typedef enum RtSimilarity { RT_SIMILARITY_COSINE, RT_SIMILARITY_DOT, RT_SIMILARITY_EUCLIDEAN, RT_SIMILARITY_MANHATTAN } RtSimilarity;
double rt_similarity(RtSimilarity kind, const float *a, const float *b, int n);

#ifdef __cplusplus
}
#endif

#endif
