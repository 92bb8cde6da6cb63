/* rt_generate.h: one sequence, id by id: greedily, or drawn by chance. Beams are in rt_beam.h. */
#ifndef RT_GENERATE_H
#define RT_GENERATE_H

#include "rt_decoder.h"
#include "rt_logits.h"
#include "rt_sample.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What slot 0 holds, for a prompt that goes on from it: ids[longest], of which `count` were fed and nothing else since. All zero but
 * for ids: nothing. */
typedef struct RtPromptCache { int *ids; int count; } RtPromptCache;

typedef struct RtGenerate {
    int most;                       /* ids to generate, at most; the end id is one */
    int longest;                    /* ids that the prompt and these may have in all */
    const int *ends;  int end_count;                        /* ids that end a sequence; may be none */
    RtProcessors processors;
    RtSampling sampling;
    uint64_t seed, text;            /* of the sampling: rt_random_of */
    int scored;                     /* whether the log-probabilities are summed */
    /* Called with each new id; anything but 0 stops, and the id stays the last one. NULL: nobody listens. */
    int (*on_id)(void *user, int id);
    void *user;
    RtPromptCache *prompt_cache;                   /* what slot 0 holds, kept up to date; NULL: every prompt is fed from its beginning */
} RtGenerate;

typedef struct RtGenerated {
    int count;                      /* ids, the end id included */
    int ended;                      /* whether the last of them is an end id */
    int stopped;                    /* whether on_id has stopped it */
    double sum;                     /* of the log-probabilities of ids under the plain logits; 0 where `scored` is not set */
} RtGenerated;

/* Bytes of scratch for rt_generate with these options. */
size_t rt_generate_scratch_bytes(const RtGenerate *o, int vocab);
/* The first ids of prompt[n] that need not be fed again: at most n - 2, so that what is fed takes the slot back to where they end. */
int rt_prompt_cache_kept(const RtPromptCache *h, const int *prompt, int n);
/* Continue prompt[n], whose source, where there is one, was encoded into slot 0. ids: [o->most]. scratch: aligned as for a double.
 * Returns RT_OK; RT_ORDER for no prompt or nothing to generate, RT_TOO_LONG for a prompt and `most` above `longest`, RT_NO_ROOM for too
 * little scratch, RT_BAD_WEIGHTS where a logit is NaN or INFINITY or the rules leave no id, or what a call returned. *out then tells
 * how far it came. The ids, and all numbers behind them, are the same with a prompt_cache and without it; a model whose rings have lost what
 * comes before is fed the whole prompt. */
rt_status rt_generate(const RtDecoder *d, const RtGenerate *o, const int *prompt, int n, int *ids, void *scratch, size_t bytes,
                      RtGenerated *out);

#ifdef __cplusplus
}
#endif

#endif
