/* rt_decoder.h: the functions of a model that generation calls, for any engine; each gets `self`.
 * A slot holds one sequence. */
#ifndef RT_DECODER_H
#define RT_DECODER_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Statuses are passed on. In rt_generate, rules and sampling act on logits. A model that ends in a
 * log-softmax leaves log-probabilities after `decode` and its logits after `next`, so rt_generate
 * needs its `next`. */
typedef struct RtDecoder {
    void *self;
    int slots;                      /* sequences that the model holds */
    int rows_most;                  /* rows that one call takes */
    int vocab, stride;              /* ids; floats from a row of logits to the next */
    rt_status (*decode)(void *self, const rt_token *rows, int n);
    const float *(*logits)(void *self);     /* of the last decode or next: [n][stride], until the next call */
    rt_status (*fork)(void *self, int from, int to);        /* copy a slot's sequence and source */
    rt_status (*clear)(void *self, int slot);               /* forget the sequence of a slot, not its source */
    /* Decode one row of slot 0; *next receives the argmax of its logits. May be NULL. */
    rt_status (*next)(void *self, int id, int *next);
    /* Like decode, but leaves no logits. May be NULL. */
    rt_status (*prefill)(void *self, const rt_token *rows, int n);
} RtDecoder;

/* The bytes of a part of scratch, rounded up to the alignment of the next part. */
static inline size_t rt_padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* Clear slot 0 and feed it prompt[n], in calls of up to rows_most rows. *last receives the row of
 * logits after the last id, if n >= 1, valid until the next call; NULL: it is not needed. */
rt_status rt_prefill(const RtDecoder *d, const int *prompt, int n, const float **last);

#ifdef __cplusplus
}
#endif

#endif
