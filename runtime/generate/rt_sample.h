/* rt_sample.h: sample the next id from its scores. The filters are those of Hugging Face's
 * `generate`, in its order: temperature, top-k with ties kept, top-p, min-p, typical. If top-p cuts
 * through equal scores, the lower ids stay. */
#ifndef RT_SAMPLE_H
#define RT_SAMPLE_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* temperature 0: the first maximum; the other settings are ignored. */
typedef struct RtSampling {
    float temperature;
    int   top_k;                    /* the k best ids, and their ties; 0: all */
    float top_p;                    /* the most likely of this total probability; 0 or 1: all */
    float min_p;                    /* ids of at least this share of the top probability; 0: all */
    float typical_p;                /* like top_p, of ids whose information is nearest to the entropy; 0 or 1: all */
} RtSampling;

/* SplitMix64: any seed will do, and the same seed gives the same numbers everywhere. */
typedef struct RtRandom { uint64_t state; } RtRandom;

#define RT_RANDOM_STEP UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t rt_random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline double rt_random(RtRandom *r)                 /* 0 <= x < 1, with 53 bits */
{
    return (double)(rt_random_mix(r->state += RT_RANDOM_STEP) >> 11) / 9007199254740992.0; /* 2^53 */
}

/* The random numbers for one of many texts: id i of its answer takes number i, so a draw
 * depends only on the seed, the text's number and the place in its answer. Text 0 has the numbers
 * of the seed itself. */
static inline RtRandom rt_random_of(uint64_t seed, uint64_t text)
{
    const RtRandom r = { seed + rt_random_mix(text * RT_RANDOM_STEP) };
    return r;
}

/* An id that may be drawn. weight: its probability times a common factor. */
typedef struct RtCandidate { float score; int id; double weight; } RtCandidate;

/* Write to candidates[vocab] the ids of scores[vocab] that the filters keep, most likely first,
 * equal ones by ascending id. Returns their number: at least one, or 0 if no score is a number
 * above -INFINITY. */
int rt_sample_candidates(const RtSampling *s, const float *scores, int vocab, RtCandidate *candidates);
/* Draw one of these ids by its weight; -1 if there is none. candidates[vocab]: scratch. */
int rt_sample(const RtSampling *s, const float *scores, int vocab, RtCandidate *candidates, RtRandom *random);

#ifdef __cplusplus
}
#endif

#endif
