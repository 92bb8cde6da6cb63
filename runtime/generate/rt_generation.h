/* rt_generation.h: the settings of generation, and an answer by them: greedily, drawn by chance, or by a search with beams. */
#ifndef RT_GENERATION_H
#define RT_GENERATION_H

#include "rt_beam.h"
#include "rt_generate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: greedily, until the context is full. */
typedef struct RtGeneration {
    int max_new;                    /* ids to generate, and max_length is not read; 0: as many as fit */
    int max_length;                 /* ids in all, the prompt's or the start id too; 0: as many as fit */
    RtSampling sampling;            /* not with beams */
    uint64_t seed;                  /* with the text's number it decides what is drawn for it: rt_random_of */
    RtProcessors processors;
    const int *ends;  int end_count;                        /* ids that end an answer */
    int beams;                      /* 0 or 1: one sequence without a search */
    double length_penalty;
    RtBeamStop early_stopping;
    const char *const *stops;  int stop_count;              /* texts that end an answer and are left out of it: rt_answer_text.h */
} RtGeneration;

/* One call's part: which text it answers, who listens, and whether a sequence without a search is
 * scored. */
typedef struct RtAnswering {
    int scored;
    uint64_t text;                  /* how many texts came before this one */
    int (*on_id)(void *user, int id);                        /* as in RtGenerate; not called by a search */
    void *user;
    RtPromptCache *prompt_cache;                                           /* as in RtGenerate; a search empties it */
} RtAnswering;

/* What RtGeneration lets be generated behind a prompt of n ids, of the `longest` that a sequence may have; 0: nothing. */
int rt_generation_most(const RtGeneration *g, int n, int longest);
/* The ids that a prompt may have, of the `most` that the model takes, so that one more may follow. */
int rt_generation_prompt(const RtGeneration *g, int most);
/* Whether it is a search, whose ids are known only at its end. One beam is none, as for transformers' generate. */
int rt_generation_searches(const RtGeneration *g);
/* Bytes of scratch for rt_answer. */
size_t rt_answer_scratch_bytes(const RtGeneration *g, int longest, int vocab);
/* Continue prompt[n], whose source, where there is one, was encoded into slot 0; longest: ids that a sequence may have. results: [max(1,
 * beams)], best first, each with its end id unless it is as long as it may be; their ids lie in the scratch. *count receives how many
 * there are. Without a search sum and score are the sum of log-probabilities where it is asked for, else 0. Returns what
 * rt_generate and rt_beam_search do; RT_BAD_WEIGHTS also where a search finds no numbers. */
rt_status rt_answer(const RtDecoder *d, const RtGeneration *g, const RtAnswering *a, const int *prompt, int n, int longest,
                    void *scratch, size_t bytes, RtBeamResult *results, int *count);

/* ---- by name: rt_generation_options.c ------------------------------------------------------------------- */

typedef struct RtGenerationOption { int letter; const char *name, *argument, *doc; } RtGenerationOption;
/* The options that change the settings: `letter` is 0 where there is none. */
extern const RtGenerationOption rt_generation_options[];
extern const int rt_generation_option_count;
/* Other names of some. */
typedef struct RtGenerationAlias { const char *name; int option; } RtGenerationAlias;
extern const RtGenerationAlias rt_generation_aliases[];
extern const int rt_generation_alias_count;
/* Set what option `name` means. Returns 0; -1 for an unknown name, 1 for a wrong value, and then *expected says what would do. */
int rt_generation_set(RtGeneration *g, const char *name, const char *value, const char **expected);
/* Why settings do not go together, or NULL. */
const char *rt_generation_fault(const RtGeneration *g);
/* Whether every setting is in the range of its option, or 0 where that means off, counts are not below 0,
 * and no stop is empty: rt_generation_range.c. */
int rt_generation_in_range(const RtGeneration *g);

#ifdef __cplusplus
}
#endif

#endif
