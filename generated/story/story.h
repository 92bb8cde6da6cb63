/* story.h: the API of the model story, for C11 and C++. Made by xformc from story.lua.
 *
 * An id is the number of a token. A state has slots, and a slot holds one sequence of ids.
 *
 * Bind the model first: the other calls do not check that it is bound. Calls that can fail return a
 * status, which rt_status_text describes; a call that rejects its arguments changes nothing. Only
 * story_threads allocates. */
#ifndef STORY_H
#define STORY_H

#include "rt.h"

#define STORY_VERSION "0.9.0"     /* the version of xformc that wrote this */
#if XF_API_VERSION != 900
#error "story.h and rt.h come from different versions of xformc"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define STORY_MAX_TARGET     512          /* maximum length of a sequence */
#define STORY_VOCAB          512
#define STORY_ROWS           128          /* maximum number of rows per call of story_decode */
#define STORY_SLOTS          1           /* sequences in a state */
#define STORY_LOGITS_STRIDE  528          /* floats from one row of logits to the next */
#define STORY_START          1           /* usual first id of a sequence */
#define STORY_END            2           /* id that ends a sequence; -1: none */

#define STORY_MAX_THREADS    1          /* threads that a state has room for */
#define STORY_STATE_BYTES    1540800
#define STORY_WEIGHTS_BYTES  1219904

/* The state of one sequence. It contains no pointers, so it can be copied or saved. Zero-initialise
 * it. It is large: make it static, or allocate it aligned to 64 bytes. */
typedef struct story_state { XF_ALIGN(64) unsigned char bytes[STORY_STATE_BYTES]; } story_state;

/* A model. Zero-initialise it, then bind it. Any number of states may use it. Several threads may
 * use it at once, each with its own state, unless story_threads gave it threads. */
typedef struct story { const unsigned char *weights; struct rt_team *team; } story;

extern const unsigned story_isa;  /* instruction sets that this was compiled for: RT_ISA_* bits */

/* Use packed weights: STORY_WEIGHTS_BYTES bytes, 64-byte aligned, kept by the caller while the
 * model is in use. rt_weights_open in rt_weights.h reads them from a file. The size and the header
 * are checked; nothing is copied.
 * Errors: RT_BAD_WEIGHTS, RT_BYTE_ORDER, RT_NO_ISA. */
rt_status story_bind(story *m, const void *weights, size_t bytes);

/* Compute with n threads, including the caller's; the results do not depend on n. Passing 1 ends
 * the others: do that before the model is destroyed. Errors: RT_NO_ROOM; RT_TOO_LONG for n outside
 * 1 .. STORY_MAX_THREADS. */
rt_status story_threads(story *m, int n);

/* Forget every sequence. A zeroed state needs no reset. */
void story_reset(story_state *s);

/* Run the decoder on rows[n]: append token `id` at position `pos` of the sequence in `slot`. One
 * row is a step, several rows of a slot are a prefill, and rows of several slots are a batch. Rows
 * of a slot must be adjacent and have consecutive positions.
 * The first position is at most the length of the sequence, which is cut there first.
 * Row i of story_logits scores the id that follows rows[i].
 * Errors: RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1 or rows that break these rules. */
rt_status story_decode(const story *m, story_state *s, const rt_token *rows, int n);

/* story_decode without logits, and faster: for all rows of a prompt but the last. */
rt_status story_prefill(const story *m, story_state *s, const rt_token *rows, int n);

/* Like story_decode; next[n] receives the most likely id after each row. Ties go to the lowest id.
 * Errors: also RT_NOT_FINITE, for a row with a logit that is NaN or +infinity; its next is -1. */
rt_status story_decode_greedy(const story *m, story_state *s, const rt_token *rows, int n,
                              int *next);

/* Copy the sequence of slot `from` to slot `to`. */
rt_status story_fork(story_state *s, int from, int to);

/* Empty the sequence of a slot. */
rt_status story_clear(story_state *s, int slot);

/* Append `id` to the sequence in slot 0, as story_decode does with one row. */
rt_status story_step(const story *m, story_state *s, int id);

/* The last call's logits, as [rows][STORY_LOGITS_STRIDE]; the first STORY_VOCAB of each row are in
 * use. Valid until the next call on this state. */
const float *story_logits(const story_state *s);

/* Append `id` to the sequence in slot 0 and write the most likely next id, as story_decode_greedy
 * does. */
rt_status story_next(const story *m, story_state *s, int id, int *next);

#ifdef __cplusplus
}
#endif

#endif
