/* dates.h: the API of the model dates, for C11 and C++. Made by xformc from dates.lua.
 *
 * An id is the number of a token. A state has slots. A slot holds a source, which the encoder
 * reads, and a target, the sequence of ids that the decoder writes.
 *
 * Bind the model first: the other calls do not check that it is bound. Calls that can fail return a
 * status, which rt_status_text describes; a call that rejects its arguments changes nothing. Only
 * dates_threads allocates. */
#ifndef DATES_H
#define DATES_H

#include "rt.h"

#define DATES_VERSION "0.9.0"     /* the version of xformc that wrote this */
#if XF_API_VERSION != 900
#error "dates.h and rt.h come from different versions of xformc"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DATES_MAX_SOURCE     80          /* maximum length of a source, in ids */
#define DATES_SOURCE_VOCAB   66
#define DATES_MAX_TARGET     12          /* maximum length of a sequence, start id included */
#define DATES_VOCAB          15
#define DATES_ROWS           12          /* maximum number of rows per call of dates_decode */
#define DATES_SLOTS          1           /* sequences in a state */
#define DATES_LOGITS_STRIDE  16          /* floats from one row of logits to the next */
#define DATES_START          1           /* first id of a sequence */
#define DATES_END            2           /* id that ends a sequence; -1: none */

#define DATES_MAX_THREADS    16          /* threads that a state has room for */
#define DATES_STATE_BYTES    438720
#define DATES_WEIGHTS_BYTES  990336

/* The state of one sequence. It contains no pointers, so it can be copied or saved. Zero-initialise
 * it. It is large: make it static, or allocate it aligned to 64 bytes. */
typedef struct dates_state { XF_ALIGN(64) unsigned char bytes[DATES_STATE_BYTES]; } dates_state;

/* A model. Zero-initialise it, then bind it. Any number of states may use it. Several threads may
 * use it at once, each with its own state, unless dates_threads gave it threads. */
typedef struct dates { const unsigned char *weights; struct rt_team *team; } dates;

extern const unsigned dates_isa;  /* instruction sets that this was compiled for: RT_ISA_* bits */

/* Use packed weights: DATES_WEIGHTS_BYTES bytes, 64-byte aligned, kept by the caller while the
 * model is in use. rt_weights_open in rt_weights.h reads them from a file. The size and the header
 * are checked; nothing is copied.
 * Errors: RT_BAD_WEIGHTS, RT_BYTE_ORDER, RT_NO_ISA. */
rt_status dates_bind(dates *m, const void *weights, size_t bytes);

/* Compute with n threads, including the caller's; the results do not depend on n. Passing 1 ends
 * the others: do that before the model is destroyed. Errors: RT_NO_ROOM; RT_TOO_LONG for n outside
 * 1 .. DATES_MAX_THREADS. */
rt_status dates_threads(dates *m, int n);

/* Forget every sequence. A zeroed state needs no reset. */
void dates_reset(dates_state *s);

/* Run the encoder on a source of 1 .. DATES_MAX_SOURCE ids in a slot, and empty the slot's target.
 * Errors: RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1. */
rt_status dates_encode(const dates *m, dates_state *s, int slot, const int *ids, int n);

/* Run the decoder on rows[n]: append token `id` at position `pos` of the sequence in `slot`. One
 * row is a step, several rows of a slot are a prefill, and rows of several slots are a batch. Rows
 * of a slot must be adjacent and have consecutive positions.
 * The first position is at most the length of the sequence, which is cut there first.
 * A target begins with DATES_START at 0 (not checked). Row i of dates_scores scores the id that
 * follows rows[i].
 * Errors: RT_BAD_ID, RT_TOO_LONG; RT_ORDER for n < 1, a slot without a source, or rows that break
 * these rules. */
rt_status dates_decode(const dates *m, dates_state *s, const rt_token *rows, int n);

/* dates_decode without log-probabilities, and faster: for all rows of a prompt but the last. */
rt_status dates_prefill(const dates *m, dates_state *s, const rt_token *rows, int n);

/* Like dates_decode; next[n] receives the most likely id after each row. Ties go to the lowest id.
 * dates_scores then has logits, before the log-softmax.
 * Errors: also RT_NOT_FINITE, for a row with a logit that is NaN or +infinity; its next is -1. */
rt_status dates_decode_greedy(const dates *m, dates_state *s, const rt_token *rows, int n,
                              int *next);

/* Copy the sequence and the source of slot `from` to slot `to`. */
rt_status dates_fork(dates_state *s, int from, int to);

/* Empty the sequence of a slot; its source stays. */
rt_status dates_clear(dates_state *s, int slot);

/* Append `id` to the sequence in slot 0, as dates_decode does with one row. */
rt_status dates_step(const dates *m, dates_state *s, int id);

/* The last call's natural log-probabilities, or logits after dates_decode_greedy and dates_next, as
 * [rows][DATES_LOGITS_STRIDE]; the first DATES_VOCAB of each row are in use. Valid until the next
 * call on this state. */
const float *dates_scores(const dates_state *s);

/* Append `id` to the sequence in slot 0 and write the most likely next id, as dates_decode_greedy
 * does. */
rt_status dates_next(const dates *m, dates_state *s, int id, int *next);

/* ---- text ------------------------------------------------------------------------------------ */

/* Turn a text into ids[room], as dates_encode takes them; *n receives their number. s may serve as
 * scratch memory; its sequences are unchanged. RT_TOO_LONG: more than room, and *n says how many.
 * RT_BAD_ID: a character without an id, or invalid UTF-8; *fault says which; fault may be NULL. */
rt_status dates_tokenize(const dates *m, dates_state *s, const char *utf8, int *ids, int room,
                         int *n, RtTextFault *fault);

/* dates_tokenize for an answer, as dates_decode takes it: with the target's vocabulary, without
 * special tokens. */
rt_status dates_tokenize_target(const dates *m, dates_state *s, const char *utf8, int *ids,
                                int room, int *n, RtTextFault *fault);

/* Turn ids[n] into text: out[cap], NUL-terminated. Special tokens such as </s> are left out.
 * *bytes receives the length of the text; bytes may be NULL. Errors: RT_NO_ROOM; RT_BAD_ID. */
rt_status dates_detokenize(const dates *m, const int *ids, int n, char *out, size_t cap,
                           size_t *bytes);

/* Generate the answer to a text in slot 0, replacing the sequence there, and pass it piece by piece
 * to on_token, unless that is NULL.
 * When on_token returns false, generation stops with RT_OK. on_token must not use this state. A
 * beam search takes a slot for each beam. options NULL or all zeros: the model's own settings.
 * Errors: RT_BAD_OPTION: options that are out of range, conflict or are not supported; RT_ORDER: a
 * text without ids; RT_NO_ROOM: stop strings too long; RT_NO_TOKEN: the settings exclude every
 * token; or those of dates_tokenize and dates_decode_greedy. */
rt_status dates_generate(const dates *m, dates_state *s, const char *text,
                         const rt_generate_options *options,
        rt_on_token *on_token, void *user);

#ifdef __cplusplus
}
#endif

#endif
