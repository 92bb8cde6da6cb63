/* decode.h: what an engine writes to a source, or behind a prompt, by the settings of rt_generation.h. */
#ifndef DECODE_H
#define DECODE_H

#include "engine.h"
#include "generation.h"
#include "rt_answer_text.h"
#include "rt_lines.h"
#include "rt_numbers.h"
#include "rt_timing.h"

typedef struct Decoder {
    Engine *engine;
    RtGeneration generation;
    RtTiming timing;                /* of the last answer */
    RtAnswering answering;          /* nobody listens and nothing is scored, until the caller says so */
    RtHeld held;                    /* of decoder_hold: what slot 0 holds */
    int longest;                    /* ids that a sequence may have, a prompt's or the start id too */
    RtBeamResult *results;          /* [max(1, beams)] */
    int count;                      /* of the last answer */
    void *scratch;  size_t scratch_bytes;
} Decoder;

/* A decoder on an engine whose model decodes, with a slot for every beam; it lives in the arena. */
Decoder *decoder_new(Arena *a, Engine *e, const RtGeneration *g);
/* Of a decoder alone: from now on a prompt is fed from where it differs from what slot 0 holds, to the same answers. */
void decoder_hold(Arena *a, Decoder *d);
/* Answer ids[n]: a source, or the prompt of a decoder alone. The answers are d->results, best first, until the next call;
 * each has its end id, unless it is as long as it may be. Returns what the engine's calls and rt_answer do. */
rt_status decoder_answer(Decoder *d, const int *ids, int n);
/* Whether an id ends answers. */
bool decoder_is_end(const Decoder *d, int id);
/* Whether an answer's last id does. */
bool decoder_ended(const Decoder *d, const RtBeamResult *r);

#endif
