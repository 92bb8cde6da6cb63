/* rt_cli_generate.h: answers of a program's decoder, by the settings of rt_generation.h; the
 * languages of a translation. */
#ifndef RT_CLI_GENERATE_H
#define RT_CLI_GENERATE_H

#include <stdio.h>

#include "rt_generation.h"
#include "rt_cli_options.h"
#include "rt_cli_weights.h"
#include "rt_timing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first ids of an answer to a source: the start id and the id after it, which is -1 for any. */
typedef struct CliBegin { int start, first; } CliBegin;

/* The languages of a translation, and where to report an unknown one: rt_cli_language.h. */
typedef struct CliLanguages {
    const char *from, *to;              /* NULL: the model's own */
    const char *const *translations;    /* rt_program's; NULL for none */
    FILE *messages;
    const char *program;                /* prefix of a message, which is then a line; or NULL */
    const char *const *options;         /* names of `from` and `to` in messages; NULL: those of the options */
    int answers;                        /* 1: texts are answered, and no setting fixes the language */
} CliLanguages;

typedef struct CliDecoder {
    const rt_program *program;
    CliWeights *weights;           /* these three are the program's */
    void *model, *state;
    RtGeneration settings;          /* the program's, changed by the options */
    int start;                      /* first id of an answer to a source */
    int longest;                    /* maximum number of ids of a sequence, including its prompt or start id */
    RtPromptCache prompt_cache;     /* for turns of a conversation; otherwise its ids are NULL */
    RtTiming timing;                /* of the last answer */
    void *scratch;  size_t bytes;
    /* [max(1, beams)]: the last answer, best first; NULL if there is no decoder. */
    RtBeamResult *results;  int count;
} CliDecoder;

/* Report that there is no memory for texts. Returns the exit code. */
int cli_no_memory(const rt_program *p);
/* Prepare what the program and the options require. Returns 0, or an exit code after a message. */
int cli_decoder_open(CliDecoder *d, const rt_program *p, const CliOptions *o, CliBegin begin, CliWeights *weights, void *state);
/* Answer input[n]: ids[max_target + 1] receives the best answer, including its end id, and *score
 * the sum of its log-probabilities, with how->scored or after a search. Returns the status of
 * rt_answer, or of the encoder if that fails. */
rt_status cli_decoder_answer(CliDecoder *d, const RtAnswering *how, const int *input, int n, int *ids, int *count, double *score);
int cli_decoder_is_end(const CliDecoder *d, int id);
void cli_decoder_close(CliDecoder *d);

#ifdef __cplusplus
}
#endif

#endif
