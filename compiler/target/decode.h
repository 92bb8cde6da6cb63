/* decode.h: what an engine writes to a source, or behind a prompt: greedily, or by beam search. */
#ifndef DECODE_H
#define DECODE_H

#include "engine.h"
#include "rt_beam.h"
#include "rt_numbers.h"

/* beams 0: greedy, the first maximum of every step. most: ids of an answer; 0: as many as the model can write. */
typedef struct DecodeOptions { int beams; double length_penalty; RtBeamStop early_stopping; int most; } DecodeOptions;

typedef struct Decoder {
    Engine *engine;
    DecodeOptions options;
    int room;                       /* ids of the longest answer, its end id included */
    int end;                        /* the end id */
    RtBeamResult *results;          /* [max(1, beams)] */
    int count;                      /* of the last answer; 0: the model's logits are no numbers */
    void *scratch;  size_t scratch_bytes;
} Decoder;

/* A decoder on an engine whose model decodes, with a slot for every beam; it lives in the arena. */
Decoder *decoder_new(Arena *a, Engine *e, DecodeOptions options);
/* Answer ids[n]: a source, or the prompt of a decoder alone. The answers are d->results, best first, until the next call;
 * each has its end id, unless it is as long as the model can write. Returns what the engine's calls do. */
rt_status decoder_answer(Decoder *d, const int *ids, int n);

#endif
