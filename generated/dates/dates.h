/* dates.h: everything a caller of dates needs. C11 and C++.
 * Made by xformc from dates.lua. Calls that can fail return a status; none writes outside the state. */
#ifndef DATES_H
#define DATES_H

#include "rt.h"

#define DATES_VERSION "0.9.0"     /* of xformc */
#if XF_API_VERSION != 900
#error "dates.h and rt.h are of different versions of xformc"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DATES_MAX_SOURCE     80
#define DATES_SOURCE_VOCAB   66
#define DATES_MAX_TARGET     12          /* with the start mark */
#define DATES_VOCAB          15
#define DATES_ROWS           12          /* rows in one call of dates_decode */
#define DATES_SLOTS          1
#define DATES_LOGITS_STRIDE  16          /* floats from a row of logits to the next */
#define DATES_START          1           /* <s> */
#define DATES_END            2           /* </s> */

#define DATES_MAX_THREADS    16          /* most threads that a state has room for */
#define DATES_STATE_BYTES    438720
#define DATES_WEIGHTS_BYTES  990336

/* One sequence in one piece of memory without a pointer in it: copy it, save it. */
typedef struct dates_state { XF_ALIGN(64) unsigned char bytes[DATES_STATE_BYTES]; } dates_state;

/* A model, read-only once bound: any number of states may use it. Begin with one that is all zeros. */
typedef struct dates { const unsigned char *weights; struct rt_team *team; } dates;

extern const unsigned dates_isa;         /* instruction sets that this was compiled for: RT_ISA_* bits */

/* Use packed weights: DATES_WEIGHTS_BYTES bytes, 64-byte aligned, which the caller keeps. Compares their size and
 * head with what this was compiled for; parses and copies nothing. RT_BAD_WEIGHTS, RT_BYTE_ORDER,
 * RT_NO_ISA. */
rt_status dates_bind(dates *m, const void *weights, size_t bytes);

/* Use n threads, the caller's among them, in calls with this model; 1 gives them back. The results do not depend
 * on n. RT_NO_ROOM, RT_TOO_LONG past DATES_MAX_THREADS. */
rt_status dates_threads(dates *m, int n);

/* Forget every sequence. A state of zeros is reset. */
void dates_reset(dates_state *s);

/* Read a source of 1 .. DATES_MAX_SOURCE ids into a slot and forget what the slot held.
 * RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1. */
rt_status dates_encode(const dates *m, dates_state *s, int slot, const int *ids, int n);

/* Compute decoder rows: append the token `id` at `pos` of the sequence in `slot`. One row is a step, rows of one
 * slot a prefill, rows of several slots a batch: those of a slot stand together, their positions follow one another,
 * from 0 or an earlier one that is taken back. Row i of dates_scores is that of rows[i].
 * RT_BAD_ID, RT_TOO_LONG, RT_ORDER also without a source. */
rt_status dates_decode(const dates *m, dates_state *s, const rt_token *rows, int n);

/* The same, and leaves no log-probabilities: for the rows of a prompt before its last. */
rt_status dates_prefill(const dates *m, dates_state *s, const rt_token *rows, int n);

/* The same, and give the most likely id after each row, the first of equals; next[n]. dates_scores then has the logits of
 * the rows themselves, as they are before the log-softmax. RT_BAD_WEIGHTS where one of a row's is NaN or INFINITY: its id is then -1. */
rt_status dates_decode_greedy(const dates *m, dates_state *s, const rt_token *rows, int n, int *next);

/* Copy the sequence and the source of slot `from` to slot `to`. */
rt_status dates_fork(dates_state *s, int from, int to);

/* Forget the sequence of a slot, not its source. */
rt_status dates_clear(dates_state *s, int slot);

/* On slot 0: append `id`; then dates_scores has the log-probabilities of what comes next. */
rt_status dates_step(const dates *m, dates_state *s, int id);

/* [rows][DATES_LOGITS_STRIDE], of which DATES_VOCAB are in use; valid until the next call on this state. */
const float *dates_scores(const dates_state *s);

/* On slot 0: append `id` and give the most likely id after it, as dates_decode_greedy of that row. */
rt_status dates_next(const dates *m, dates_state *s, int id, int *next);

/* ---- text --------------------------------------------------------------------------------------------------- */

/* Turn a text into ids [room]. *n receives their number. RT_TOO_LONG: more than room.
 * RT_BAD_ID: a character without an id, or invalid UTF-8; *fault says where, and may be NULL. */
rt_status dates_tokenize(const dates *m, dates_state *s, const char *utf8, int *ids, int room, int *n,
        RtTextFault *fault);

/* The same for an answer: in the target's vocabulary, without special tokens. */
rt_status dates_tokenize_target(const dates *m, dates_state *s, const char *utf8, int *ids, int room, int *n,
        RtTextFault *fault);

/* Turn ids[n] into text, without special tokens such as </s>: out[cap], NUL-terminated. *bytes receives its
 * length, and may be NULL. RT_NO_ROOM; RT_BAD_ID. */
rt_status dates_detokenize(const dates *m, const int *ids, int n, char *out, size_t cap, size_t *bytes);

/* Generate the answer to a text in slot 0 and pass it to on_token piece by piece. on_token returns false to
 * stop, and may be NULL. options NULL or all zeros: the model's own settings.
 * RT_BAD_OPTION: options out of range; RT_ORDER: a text without ids; RT_NO_ROOM: stop strings too long; otherwise
 * as dates_tokenize and dates_decode_greedy. */
rt_status dates_generate(const dates *m, dates_state *s, const char *text, const rt_generate_options *options,
        rt_on_token *on_token, void *user);

#ifdef __cplusplus
}
#endif

#endif
