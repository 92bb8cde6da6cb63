/* rt_logits.h: rules that change the scores of the next id, in the order and with the meaning of
 * Hugging Face's `generate`: repetition penalty, no repeated n-gram, bad words, minimum lengths,
 * forced first and last id, suppressed ids. */
#ifndef RT_LOGITS_H
#define RT_LOGITS_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: no changes. The caller owns the lists. Ids outside the vocabulary are ignored. */
typedef struct RtProcessors {
    /* For ids seen before: multiplies scores below 0, divides other scores; 0 or 1: none. */
    float repetition_penalty;
    int no_repeat_ngram;            /* no n-gram of this size repeats; 0: off */
    const int *bad_words;           /* [bad_words_room]: forbidden sequences: length, then ids */
    int bad_words_room;
    int min_length, min_new;        /* no end id before that many ids; min_new: of the answer */
    int force_first, first;         /* the second id, prompt included, must be `first` */
    int force_last, last;           /* the last id that fits must be `last` */
    const int *suppress;  int suppress_count;               /* ids that are never generated */
    const int *begin_suppress;  int begin_suppress_count;   /* not as the first after the prompt */
} RtProcessors;

/* The sequence that the next id continues. */
typedef struct RtHistory {
    const int *ids;  int count;     /* all so far, the prompt first */
    int prompt;                     /* of these, ids of the prompt */
    int most;                       /* maximum number of ids in all, prompt and generated */
    const int *ends;  int end_count;
} RtHistory;

/* 1 if an id is one of ends[n]. */
static inline int rt_is_end(const int *ends, int n, int id)
{
    for (int i = 0; i < n; i++)
        if (ends[i] == id) return 1;
    return 0;
}

/* 1 if none of x[n] is NaN or INFINITY; -INFINITY is allowed. */
int  rt_logits_good(const float *x, int n);
/* 1 if the rules may change anything. */
int  rt_logits_change(const RtProcessors *p);
/* Compute scores[vocab] from logits[vocab], or for a beam search from log-probabilities; the two do
 * not overlap. Forbidden ids get -INFINITY. */
void rt_logits_process(const RtProcessors *p, const RtHistory *h, const float *logits, float *scores, int vocab);

#ifdef __cplusplus
}
#endif

#endif
