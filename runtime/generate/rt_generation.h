/* rt_generation.h: generation settings, and answers that follow them: greedy, sampled or by beam
 * search. */
#ifndef RT_GENERATION_H
#define RT_GENERATION_H

#include "rt_beam.h"
#include "rt_generate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: greedy, until the context is full. */
typedef struct RtGeneration {
    int max_new;                    /* maximum number of generated ids, in place of max_length; 0: not set */
    int max_length;                 /* maximum number of ids with the prompt or start id; 0: as many as fit */
    RtSampling sampling;            /* not with beams */
    uint64_t seed;                  /* of sampling, together with the text's number: rt_random_of */
    RtProcessors processors;
    const int *ends;  int end_count;                        /* ids that end an answer */
    int beams;                      /* 0 or 1: one sequence without a search */
    double length_penalty;
    RtBeamStop early_stopping;
    const char *const *stops;  int stop_count;      /* stop strings, not part of an answer */
} RtGeneration;

/* The settings of one call. scored: compute the score even without a search. */
typedef struct RtAnswering {
    int scored;
    uint64_t text;                  /* number of this text, counted from 0 */
    int (*on_id)(void *user, int id);                        /* as in RtGenerate; not called by a search */
    void *user;
    RtPromptCache *prompt_cache;    /* as in RtGenerate; a search empties it */
} RtAnswering;

/* The most ids to generate after a prompt of n ids, in a sequence of at most `longest`; 0: none. */
int rt_generation_most(const RtGeneration *g, int n, int longest);
/* The most ids of a prompt: the model's `most` or, unless max_new is set, fewer if max_length would
 * not allow one more. */
int rt_generation_prompt(const RtGeneration *g, int most);
/* 1 for a beam search, whose ids are known only at its end. One beam is not a search, as in
 * transformers' generate. */
int rt_generation_searches(const RtGeneration *g);
/* Bytes of scratch for rt_answer. */
size_t rt_answer_scratch_bytes(const RtGeneration *g, int longest, int vocab);
/* Continue prompt[n]; its source, if there is one, was encoded into slot 0. longest: the maximum
 * number of ids in a sequence. results[max(1, beams)]: best first, each with its end id, unless it
 * has the maximum length or on_id stopped it; their ids are in the scratch. *count receives their
 * number. Without a search, sum and score are the sum of log-probabilities if a->scored, else 0.
 * Returns a status of rt_generate or rt_beam_search; RT_NO_TOKEN also if a search finds nothing. */
rt_status rt_answer(const RtDecoder *d, const RtGeneration *g, const RtAnswering *a, const int *prompt, int n, int longest,
                    void *scratch, size_t bytes, RtBeamResult *results, int *count);

/* ---- by name: rt_generation_options.c ------------------------------------------------------------------- */

typedef struct RtGenerationOption { int letter; const char *name, *argument, *doc; } RtGenerationOption;
/* The options that change the settings; `letter` is 0 if there is none. */
extern const RtGenerationOption rt_generation_options[];
extern const int rt_generation_option_count;
/* Other names of some options. */
typedef struct RtGenerationAlias { const char *name; int option; } RtGenerationAlias;
extern const RtGenerationAlias rt_generation_aliases[];
extern const int rt_generation_alias_count;
/* Set option `name` to `value`. Returns 0; -1: unknown name; 1: bad value, and *expected describes
 * a good one. */
int rt_generation_set(RtGeneration *g, const char *name, const char *value, const char **expected);
/* Why the settings conflict, or NULL. */
const char *rt_generation_fault(const RtGeneration *g);
/* 1 if every setting is in the range of its option (or is 0, where that means off), no count is
 * below 0, and no stop is empty: rt_generation_range.c. */
int rt_generation_in_range(const RtGeneration *g);

#ifdef __cplusplus
}
#endif

#endif
