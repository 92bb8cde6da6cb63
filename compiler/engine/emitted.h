/* emitted.h: the calls of an emitted model, in a shared library or in memory.
 *
 * In an engine of emitted code, `own` begins with an Emitted. Two such engines of one Plan have the
 * same layouts of state and packed weights, so one may replace the other between two calls. */
#ifndef EMITTED_H
#define EMITTED_H

#include "engine.h"

/* The emitted struct NAME, whose type is not known here: two pointers, or three if it has
 * variants. */
typedef struct EmittedModel { const unsigned char *weights; struct rt_team *team; const void *variant; } EmittedModel;

typedef struct Emitted {
    EmittedModel model;
    int reads;                      /* calls of emitted_read so far, at most 32 */
    bool reads_apart;               /* the caller calls emitted_read; the functions below do not */
    rt_status (*bind)(void *, const void *, size_t);
    rt_status (*threads)(void *, int);
    rt_status (*encode)(const void *, void *, int, const int *, int);
    rt_status (*encode_pair)(const void *, void *, int, const int *, int, int);  /* with token types */
    /* of encoder-only models */
    rt_status (*encode_batch)(const void *, void *, const int *, const int *, const int *, int, float *);
    rt_status (*clear)(void *, int);
    rt_status (*fork)(void *, int, int);
    rt_status (*step)(const void *, void *, int);
    rt_status (*next)(const void *, void *, int, int *);
    rt_status (*decode)(const void *, void *, const rt_token *, int);
    rt_status (*prefill)(const void *, void *, const rt_token *, int);
    rt_status (*decode_greedy)(const void *, void *, const rt_token *, int, int *);
    const float *(*logits)(const void *);
    rt_status (*run)(const void *, void *);
} Emitted;

/* The address of a symbol of the code, or NULL. */
typedef void *EmittedLookup(void *code, const char *name);

/* Find the calls of a model in `code`. False after a reported error. */
bool emitted_find(Arena *a, Diag *d, Emitted *e, const Model *m, EmittedLookup *lookup, void *code);
/* Bind the model to packed data, which must outlive it. False after a reported error, such as that
 * this machine lacks the instruction set. */
bool emitted_bind(Diag *d, Emitted *e, const unsigned char *data);

/* The engine's calls, made through its Emitted; all but `close`. */
#define EMITTED_CALLS                                                                                             \
    .encode = emitted_encode, .encode_batch = emitted_encode_batch, .step = emitted_step, .next = emitted_next,   \
    .decode = emitted_decode, .prefill = emitted_prefill, .decode_greedy = emitted_decode_greedy, .logits = emitted_logits,         \
    .fork = emitted_fork, .clear = emitted_clear,                                                                 \
    .run = emitted_run, .threads = emitted_threads, .team = emitted_team
rt_status emitted_encode(Engine *e, int slot, const int *ids, int n);
rt_status emitted_encode_batch(Engine *e, const int *ids, const int *lengths, const int *firsts, int count, float *vectors);
rt_status emitted_step(Engine *e, int id);
rt_status emitted_next(Engine *e, int id, int *next);
rt_status emitted_decode(Engine *e, const rt_token *rows, int n);
rt_status emitted_prefill(Engine *e, const rt_token *rows, int n);
rt_status emitted_decode_greedy(Engine *e, const rt_token *rows, int n, int *next);
const float *emitted_logits(const Engine *e);
rt_status emitted_fork(Engine *e, int from, int to);
rt_status emitted_clear(Engine *e);
rt_status emitted_run(Engine *e);
rt_status emitted_threads(Engine *e, int threads);
rt_team *emitted_team(const Engine *e);
/* Call this before each call that reads the weights. The 32nd time, it moves the weights to pages
 * of 2 MiB if possible, as generated programs do (rt_cli_weights.h). */
void emitted_read(Emitted *e);
/* End the threads of the model. */
void emitted_release(Emitted *e);

/* Allocate and reset the engine's state. False after a reported error, if there is no memory. */
bool emitted_state(Diag *d, Engine *e);

#endif
