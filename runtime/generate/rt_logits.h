/* rt_logits.h: rules that change the scores of the next id, in the order and with the meaning of Hugging Face's `generate`:
 * repetition penalty, no repeated n-gram, bad words, minimum lengths, forced first and last id, suppressed ids. */
#ifndef RT_LOGITS_H
#define RT_LOGITS_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: nothing is changed. Lists are the caller's. Ids outside the vocabulary are passed over. */
typedef struct RtProcessors {
    float repetition_penalty;       /* of each id seen: a score below 0 is multiplied, any other divided; 0 or 1: none */
    int no_repeat_ngram;            /* no n-gram of ids comes twice; 0: none */
    const int *bad_words;           /* [bad_words_room]: sequences that may not come, each its length and its ids */
    int bad_words_room;
    int min_length, min_new;        /* no end before so many ids, with the prompt or without it */
    int force_first, first;         /* whether the second id of a sequence, prompt included, must be `first` */
    int force_last, last;           /* whether the last id that fits must be `last` */
    const int *suppress;  int suppress_count;               /* ids that never come */
    const int *begin_suppress;  int begin_suppress_count;   /* ids that do not come first behind the prompt */
} RtProcessors;

/* Where in its sequence the next id stands. */
typedef struct RtHistory {
    const int *ids;  int count;     /* all so far, the prompt first */
    int prompt;                     /* of these, ids of the prompt */
    int most;                       /* ids that the prompt and what is generated may have in all */
    const int *ends;  int end_count;
} RtHistory;

/* Whether an id is one of ends[n]. */
static inline int rt_is_end(const int *ends, int n, int id)
{
    for (int i = 0; i < n; i++)
        if (ends[i] == id) return 1;
    return 0;
}

/* Whether none of x[n] is NaN or INFINITY; -INFINITY may be there. And what is said where one is. */
int  rt_logits_good(const float *x, int n);
#define RT_LOGITS_FAULT "the model's logits are no numbers"
/* Whether the rules may change anything. */
int  rt_logits_change(const RtProcessors *p);
/* scores[vocab] from logits[vocab], or for a beam search from log-probabilities; the two do not overlap. What may not come
 * gets -INFINITY. */
void rt_logits_process(const RtProcessors *p, const RtHistory *h, const float *logits, float *scores, int vocab);

#ifdef __cplusplus
}
#endif

#endif
