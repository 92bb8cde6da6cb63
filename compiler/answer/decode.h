/* decode.h: what an engine writes to a source, or behind a prompt, by the settings of rt_generation.h. */
#ifndef DECODE_H
#define DECODE_H

#include "generation.h"
#include "run_program.h"

typedef struct Decoder {
    CliDecoder cli;               /* cli.results, best first, and cli.count are the last answer */
    RtAnswering answering;          /* nobody listens and nothing is scored, until the caller says so */
    int *ids;                       /* [max_target + 1]: of the best */
} Decoder;

/* A decoder on an engine whose model decodes, with a slot for every beam; it lives in the arena. */
Decoder *decoder_new(Arena *a, Engine *e, const RtGeneration *g);
/* Answer ids[n]: a source, or the prompt of a decoder alone. The answers are cli.results until the next call; each has its end
 * id, unless it is as long as it may be. Returns what cli_decoder_answer does. */
rt_status decoder_answer(Decoder *d, const int *ids, int n);
/* Whether an answer's last id ends it. */
bool decoder_ended(const Decoder *d, const RtBeamResult *r);

#endif
