/* decode.h: generation with an engine, for a source or a prompt, with the settings of
 * rt_generation.h. */
#ifndef DECODE_H
#define DECODE_H

#include "generation.h"
#include "run_program.h"

typedef struct Decoder {
    CliDecoder cli;                 /* cli.results: the last answers, best first; cli.count: how
                                     * many */
    RtAnswering answering;          /* all 0: no callback, no scores; the caller may change it */
    int *ids;                       /* [max_target + 1]: the best answer */
} Decoder;

/* A decoder on an engine, which needs a model with a decoder and a slot for each beam. It lives in
 * the arena. */
Decoder *decoder_new(Arena *a, Engine *e, const RtGeneration *g);
/* Generate answers to ids[n]: a source, or the prompt of a decoder-only model. cli.results holds
 * the answers until the next call; each includes its end id if it ended with one. Returns the
 * status of cli_decoder_answer. */
rt_status decoder_answer(Decoder *d, const int *ids, int n);
/* True if the last id of an answer is an end id. */
bool decoder_ended(const Decoder *d, const RtBeamResult *r);

#endif
