/* rt_decoder.h: what generation calls of a model, whichever engine computes it; `self` is handed to each. Slots are sequences. */
#ifndef RT_DECODER_H
#define RT_DECODER_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Statuses are handed on. Rules and chance act on logits. A model that ends in a log-softmax leaves
 * log-probabilities behind `decode` and its logits behind `next`, so rt_generate needs its `next`. */
typedef struct RtDecoder {
    void *self;
    int slots;                      /* sequences that the model holds */
    int rows_most;                  /* rows that one call takes */
    int vocab, stride;              /* ids; floats from a row of logits to the next */
    rt_status (*decode)(void *self, const rt_token *rows, int n);
    const float *(*logits)(void *self);     /* of the last decode or next: [n][stride], until the next call */
    rt_status (*fork)(void *self, int from, int to);        /* copy the sequence of a slot, with what it was encoded from */
    rt_status (*clear)(void *self, int slot);               /* forget the sequence of a slot, not its source */
    /* One row of slot 0 and the first maximum of its logits; NULL where there is none. */
    rt_status (*next)(void *self, int id, int *next);
    rt_status (*prefill)(void *self, const rt_token *rows, int n);       /* as decode, and leaves no logits; NULL where there is none */
} RtDecoder;

/* Bytes of a part of scratch, up to where the next may begin. */
static inline size_t rt_padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* Feed prompt[n] to an empty slot 0, as many rows in a call as there may be. *last receives the row of logits behind the last id, n >= 1,
 * until the next call; NULL: nobody looks at it. */
rt_status rt_prefill(const RtDecoder *d, const int *prompt, int n, const float **last);

#ifdef __cplusplus
}
#endif

#endif
