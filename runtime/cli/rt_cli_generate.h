/* rt_cli_generate.h: what a program's decoder writes, by the settings of rt_generation.h. */
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

/* What an answer to a source begins with: the start id, and the id behind it, -1 for any. */
typedef struct CliBegin { int start, first; } CliBegin;

/* From which language into which, and where a message about one that does not exist goes: rt_cli_language.h. */
typedef struct CliLanguages {
    const char *from, *to;              /* NULL: the model's own */
    const char *const *translations;    /* rt_program's; NULL for none */
    FILE *messages;
    const char *program;                /* stands before a message, which is then a line; NULL: none */
    const char *const *options;         /* the names of `from` and `to` in messages; NULL: of the command line */
    int answers;                        /* whether the text is answered, and begins with no language of its own */
} CliLanguages;

typedef struct CliDecoder {
    const rt_program *program;
    CliWeights *weights;           /* these three are the program's */
    void *model, *state;
    RtGeneration settings;          /* the program's, changed by the options */
    int start;                      /* id that an answer to a source begins with */
    int longest;                    /* ids that a sequence may have, a prompt's or the start id too */
    RtPromptCache prompt_cache;                    /* of turns of one conversation: what slot 0 holds; else without ids */
    RtTiming timing;                /* of the last answer */
    void *scratch;  size_t bytes;
    RtBeamResult *results;  int count;              /* [max(1, beams)], best first, of the last answer; NULL where there is no decoder */
} CliDecoder;

/* Say that there is no memory for texts. Returns the exit code. */
int cli_no_memory(const rt_program *p);
/* Make ready what the program and the options ask for. Returns 0, or an exit code after a message. */
int cli_decoder_open(CliDecoder *d, const rt_program *p, const CliOptions *o, CliBegin begin, CliWeights *weights, void *state);
/* The best answer to input[n]: ids[max_target + 1], the end mark among them. Of how->scored *score receives the sum of their
 * log-probabilities. Statuses as rt_answer; RT_BAD_WEIGHTS where nothing comes out. */
rt_status cli_decoder_answer(CliDecoder *d, const RtAnswering *how, const int *input, int n, int *ids, int *count, double *score);
int cli_decoder_is_end(const CliDecoder *d, int id);
void cli_decoder_close(CliDecoder *d);

#ifdef __cplusplus
}
#endif

#endif
