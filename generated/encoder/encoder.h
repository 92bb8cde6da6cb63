/* encoder.h: the API of the model encoder, for C11 and C++. Made by xformc from encoder.lua.
 *
 * An id is the number of a token; a source is a text as ids.
 *
 * Bind the model first: the other calls do not check that it is bound. Calls that can fail return a
 * status, which rt_status_text describes; a call that rejects its arguments changes nothing. Only
 * encoder_threads allocates. */
#ifndef ENCODER_H
#define ENCODER_H

#include "rt.h"

#define ENCODER_VERSION "0.9.0"     /* the version of xformc that wrote this */
#if XF_API_VERSION != 900
#error "encoder.h and rt.h come from different versions of xformc"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ENCODER_MAX_SOURCE     128          /* maximum length of a source, in ids */
#define ENCODER_SOURCE_VOCAB   256
#define ENCODER_SLOTS          1

#define ENCODER_MAX_THREADS    16          /* threads that a state has room for */
#define ENCODER_STATE_BYTES    859840
#define ENCODER_WEIGHTS_BYTES  3374464

/* The state of one sequence. It contains no pointers, so it can be copied or saved. Zero-initialise
 * it. It is large: make it static, or allocate it aligned to 64 bytes. */
typedef struct encoder_state { XF_ALIGN(64) unsigned char bytes[ENCODER_STATE_BYTES];
                               } encoder_state;

/* A model. Zero-initialise it, then bind it. Any number of states may use it. Several threads may
 * use it at once, each with its own state, unless encoder_threads gave it threads. */
typedef struct encoder { const unsigned char *weights; struct rt_team *team; } encoder;

extern const unsigned encoder_isa;  /* instruction sets that this was compiled for: RT_ISA_* bits */

/* Use packed weights: ENCODER_WEIGHTS_BYTES bytes, 64-byte aligned, kept by the caller while the
 * model is in use. rt_weights_open in rt_weights.h reads them from a file. The size and the header
 * are checked; nothing is copied.
 * Errors: RT_BAD_WEIGHTS, RT_BYTE_ORDER, RT_NO_ISA. */
rt_status encoder_bind(encoder *m, const void *weights, size_t bytes);

/* Compute with n threads, including the caller's; the results do not depend on n. Passing 1 ends
 * the others: do that before the model is destroyed. Errors: RT_NO_ROOM; RT_TOO_LONG for n outside
 * 1 .. ENCODER_MAX_THREADS. */
rt_status encoder_threads(encoder *m, int n);

/* Forget every sequence. A zeroed state needs no reset. */
void encoder_reset(encoder_state *s);

/* Run the encoder on a source of 1 .. ENCODER_MAX_SOURCE ids in slot 0, the only one.
 * Errors: RT_BAD_ID for an unknown id or another slot; RT_TOO_LONG; RT_ORDER for n < 1. */
rt_status encoder_encode(const encoder *m, encoder_state *s, int slot, const int *ids, int n);

/* Run the encoder on `count` texts at once: text i has lengths[i] ids, and the texts follow one
 * another in ids. Each text attends only to itself, and its results are bit-identical to those of a
 * separate call. Texts fit if their lengths, all but the last rounded up to a multiple of 16, sum
 * to at most ENCODER_MAX_SOURCE. firsts must be NULL. encoder_hidden has the rows of all texts, in
 * order; vectors must be NULL.
 * Errors: RT_BAD_ID; RT_TOO_LONG if the texts do not fit; RT_ORDER for count < 1 or a length < 1;
 * RT_BAD_OPTION for a pointer that must be NULL. */
rt_status encoder_encode_batch(const encoder *m, encoder_state *s, const int *ids,
                               const int *lengths, const int *firsts, int count, float *vectors);

/* The hidden states of the last call: row i, of 128 floats, begins at i * ENCODER_HIDDEN_STRIDE.
 * Valid until the next call on this state. */
#define ENCODER_HIDDEN_STRIDE  128
const float *encoder_hidden(const encoder_state *s);

#ifdef __cplusplus
}
#endif

#endif
