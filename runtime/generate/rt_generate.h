/* rt_generate.h: generate one sequence id by id, greedily or by sampling. rt_beam.h has beam
 * search. */
#ifndef RT_GENERATE_H
#define RT_GENERATE_H

#include "rt_decoder.h"
#include "rt_logits.h"
#include "rt_sample.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ids that slot 0 holds: those with which the next prompt begins need not be fed again. ids has
 * room for `longest`; the first `count` are valid. Between answers nothing else may be fed to the
 * slot. */
typedef struct RtPromptCache { int *ids; int count; } RtPromptCache;

typedef struct RtGenerate {
    int most;                       /* maximum number of ids to generate, including the end id */
    int longest;                    /* maximum number of ids in all, prompt and generated */
    const int *ends;  int end_count;                        /* ids that end a sequence; may be none */
    RtProcessors processors;
    RtSampling sampling;
    uint64_t seed, text;            /* for sampling: the arguments of rt_random_of */
    int scored;                     /* 1: sum the log-probabilities */
    /* Called with each new id, if not NULL; any result but 0 stops, after this id. */
    int (*on_id)(void *user, int id);
    void *user;
    RtPromptCache *prompt_cache;    /* kept up to date; NULL: whole prompts are fed */
} RtGenerate;

typedef struct RtGenerated {
    int count;                      /* ids, including the end id */
    int ended;                      /* the last of them is an end id */
    int stopped;                    /* on_id has stopped the sequence */
    double sum;                     /* of the plain logits' log-probabilities if scored, else 0 */
} RtGenerated;

/* Bytes of scratch for rt_generate with these options. */
size_t rt_generate_scratch_bytes(const RtGenerate *o, int vocab);
/* The number of leading ids of prompt[n] that need not be fed again. At most n - 2: of the n - 1
 * ids fed before generation, at least one must be fed again, because that rewinds the slot to the
 * end of the reused ids. */
int rt_prompt_cache_kept(const RtPromptCache *h, const int *prompt, int n);
/* Continue prompt[n] with ids[o->most]; its source, if there is one, was encoded into slot 0.
 * scratch: aligned like a double. Returns RT_OK; RT_ORDER: no prompt or nothing to generate;
 * RT_TOO_LONG: n + most is above `longest`; RT_NO_ROOM: too little scratch; RT_NOT_FINITE: a logit
 * is NaN or INFINITY; RT_NO_TOKEN: the rules exclude every id; otherwise the status of a call that
 * failed. After an error *out tells how far it got. The ids, and all numbers from which they are
 * computed, are the same with and without a prompt_cache; if ring buffers have lost earlier
 * positions, the whole prompt is fed. */
rt_status rt_generate(const RtDecoder *d, const RtGenerate *o, const int *prompt, int n, int *ids, void *scratch, size_t bytes,
                      RtGenerated *out);

#ifdef __cplusplus
}
#endif

#endif
