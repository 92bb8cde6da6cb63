/* plain_search.h: beam search without slots: recompute whole sequences, sort all continuations. */
#ifndef PLAIN_SEARCH_H
#define PLAIN_SEARCH_H

#include <stdbool.h>

#include "rt_beam.h"

enum { PLAIN_LONGEST = 64, PLAIN_VOCABULARY = 64, PLAIN_BEAMS = 8 };

typedef struct Sequence { int ids[PLAIN_LONGEST], n, order; double sum, score; bool ended; } Sequence; /* ids: including the prompt */

/* The logits after the n ids, of a model that sees only this sequence: [vocab], valid until the
 * next call. */
typedef const float *PlainLogits(void *self, const int *ids, int n);

/* Apply the rules of rt_beam.h one after another, for up to PLAIN_BEAMS beams. pool[beams] receives
 * the best sequences, and *count their number. Returns the number of steps. */
int plain_search(PlainLogits *logits, void *self, int vocab, const RtBeamOptions *o, const int *prompt, int n, Sequence *pool, int *count);

#endif
