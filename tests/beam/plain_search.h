/* plain_search.h: beam search without slots: whole sequences, each computed anew, all continuations sorted. */
#ifndef PLAIN_SEARCH_H
#define PLAIN_SEARCH_H

#include <stdbool.h>

#include "rt_beam.h"

enum { PLAIN_LONGEST = 64, PLAIN_VOCABULARY = 64, PLAIN_BEAMS = 8 };

typedef struct Sequence { int ids[PLAIN_LONGEST], n, order; double sum, score; bool ended; } Sequence;  /* ids: the prompt too */

/* What follows ids[n], as a model gives it that sees only this sequence: [vocab], until the next call. */
typedef const float *PlainLogits(void *self, const int *ids, int n);

/* The rules of rt_beam.h one after the other, for up to PLAIN_BEAMS beams. pool[beams] receives the best, *count their
 * number. Returns the steps that it took. */
int plain_search(PlainLogits *logits, void *self, int vocab, const RtBeamOptions *o, const int *prompt, int n, Sequence *pool, int *count);

#endif
