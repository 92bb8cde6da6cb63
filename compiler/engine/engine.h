/* engine.h: one way to run a Plan, behind one set of calls.
 *
 * An engine holds one state. Sources go to slot 0. Everything it owns lives until engine_close. Calls return an
 * rt_status as the emitted functions do; errors of the system were reported to the Diag when the engine was opened. */
#ifndef ENGINE_H
#define ENGINE_H

#include "pack.h"

typedef enum EngineKind {
    ENGINE_ANY,                     /* none was named: a command takes its own, or all */
    ENGINE_NATIVE,                  /* emitted C, compiled by a C compiler and loaded */
    ENGINE_JIT,                     /* the same in memory, by libtcc */
    ENGINE_GENERIC                  /* the Plan's operations one by one, on OpenBLAS */
} EngineKind;

/* The words for kinds, from ENGINE_NATIVE on. */
#define ENGINE_WORDS "native", "jit", "generic"
/* "native"; "" of ENGINE_ANY. And the kind of a word; ENGINE_ANY where it is none. */
const char *engine_name(EngineKind kind);
EngineKind engine_of_name(const char *word);

typedef struct Engine Engine;
typedef struct EngineOps {
    rt_status (*encode)(Engine *e, int slot, const int *ids, int n);
    /* Several sources of an encoder alone, as the emitted NAME_encode_batch; NULL: one by one. */
    rt_status (*encode_batch)(Engine *e, const int *ids, const int *lengths, const int *firsts, int count, float *vectors);
    rt_status (*step)(Engine *e, int id);                   /* appends one token to slot 0 */
    rt_status (*next)(Engine *e, int id, int *next);        /* the same, and the most likely id after it */
    rt_status (*decode)(Engine *e, const rt_token *rows, int n);        /* up to engine_rows; those of a slot next to one another */
    rt_status (*prefill)(Engine *e, const rt_token *rows, int n);        /* the same, and leaves no logits */
    rt_status (*decode_greedy)(Engine *e, const rt_token *rows, int n, int *next);    /* the same, and the most likely id after each */
    /* Of the last step or rows: [n][engine_logits_stride]; of a model that ends in a log-softmax
     * log-probabilities. Behind next and decode_greedy logits, as they are before it. */
    const float *(*logits)(const Engine *e);
    rt_status (*fork)(Engine *e, int from, int to);         /* copy the sequence and the source of a slot */
    rt_status (*clear)(Engine *e);                          /* forget the sequence of slot 0, not its source */
    rt_status (*run)(Engine *e);                            /* an xf.graph, on the inputs that were set */
    rt_status (*threads)(Engine *e, int threads);
    void (*close)(Engine *e);
} EngineOps;

/* Let an engine compute on so many threads; false after a reported error, and then it keeps
 * those that it had. */
bool engine_start_threads(Diag *d, Engine *e, int threads);

/* Time to make C text of the plan, to compile it, to pack the weights. */
typedef struct EnginePhases { int64_t emit_ns, compile_ns, pack_ns; bool packed_before; } EnginePhases;

struct Engine {
    const char *name;               /* "native (gcc)", "generic": engine_name, and its compiler */
    const EngineOps *ops;
    const Plan *plan;
    unsigned char *state;           /* plan->state_bytes, 64-byte aligned */
    void *own;                      /* what the engine keeps */
    int second;                     /* where the second text of a pair begins in the next sources, of models with types; 0: there is none */
    EnginePhases phases;            /* how long it took to open; zeros where that is not known */
};

/* Run the plan's operations one by one on OpenBLAS. plan->options.target must be
 * TARGET_ROW_MAJOR. Weights as f32 are kept, or, where plan_generic_bytes says so, read for each
 * operation that needs them. */
Engine *generic_open(Arena *a, Diag *d, const Plan *p);
/* The same with plain loops in the place of OpenBLAS: the same bits on every machine, and slow.
 * keep: all weights; else each is read where it is needed, matrices some rows at a time, on up
 * to eight processors. The numbers are the same. */
Engine *generic_open_plain(Arena *a, const Plan *p, bool keep);
/* The same, which keeps none, and takes matrices from packed data of the same model, where they
 * need not be rounded again. */
Engine *generic_open_packed(Arena *a, const Plan *p, const PackedData *packed);
/* Other numbers for a tensor of the model, row-major as the model has it, wherever a generic
 * engine uses it. */
void generic_set_weight(Engine *e, const char *name, const float *values);

/* Whether a generic engine keeps no weights. One that keeps none had better walk: it appends n ids
 * to the empty sequence of slot 0, and reads each weight once, for it takes all of them through a
 * layer before it reads the next. Numbers are those of `step`, one id after the other. `at` is
 * called behind each layer of a block for each id, when taps and results of that block are those
 * of the id; layer: its index in the block. */
bool generic_reads_anew(const Engine *e);
typedef void EngineAt(void *user, int id, const PlanBlock *b, int layer);
rt_status generic_walk(Engine *e, const int *ids, int n, EngineAt *at, void *user);

/* Let a generic engine with taps go on, behind every tensor that it keeps, with what another
 * engine made of it: then each is compared alone, and a rounding that falls to the other side is
 * not carried on. A guide gives the tensor of that name, [rows][columns] as in a trace, or NULL;
 * a NULL guide ends it. */
typedef const float *EngineGuide(void *user, const char *name);
void generic_follow(Engine *e, EngineGuide *guide, void *user);
/* What a generic engine keeps in its taps from now on. With `weigh` it keeps, for each number, what
 * went into it: the sum of the sizes of its terms, of a linear |bias| + sum |w x|. That is never
 * less than the size of the number, and far more where the terms cancel. What it goes on with is
 * the same. */
void generic_weigh(Engine *e, bool weigh);

/* Forget every sequence, and fill the inputs of an xf.graph with the numbers of its spec, or
 * zeros where it gives none: inputs that were set are lost. */
void engine_reset(Engine *e);
/* Of an xf.graph: the same for its inputs alone, and for the sequence in its caches alone;
 * whether the next run has room in them; and a run that begins a new sequence where it has none. */
void engine_inputs(Engine *e);
void engine_forget(Engine *e);
bool engine_has_room(const Engine *e);
rt_status engine_run(Engine *e);
/* Whether the masks and biases of an xf.graph, those that are inputs or those that a run computes,
 * hold what they may; what is wrong with the first that does not, NULL where all do. */
bool engine_holds(const Engine *e, bool inputs);
const char *engine_fault(Arena *a, const Engine *e);
/* Whole-number inputs as the next run needs them. */
void engine_fill(Engine *e);
/* Rows of slot 0 so far. */
int32_t *engine_position(const Engine *e);
/* The rows one by one, to the same bits: ids of the argmax into next[n] where that is not NULL.
 * RT_NO_ROOM: no memory. */
rt_status engine_each_row(Engine *e, const rt_token *rows, int n, int *next);
/* Whether a cache of f16 was given a number beyond 65504, which became that, since engine_reset. */
bool engine_saturated(const Engine *e);
/* How many rows one call takes, and how many floats lie from one row of logits to the next. */
int engine_rows(const Engine *e);
int64_t engine_logits_stride(const Engine *e);
/* Of the next source, of n ids, are `first` from the start those of the first text of a pair; 0
 * or n: there is no second. Models without types of tokens do not see it. */
void engine_pair(Engine *e, int first, int n);
/* Fill an input of an xf.graph: row-major values, rows x columns of the tensor. */
void engine_set_input(Engine *e, const char *name, const float *values);
void engine_close(Engine *e);

/* A tensor in a state, dense: out[heads][rows][columns] of which `rows` and `columns` are in
 * use. For an output or a whole buffer of layout ROWS or INTS (as floats), layer index 0 unless
 * it is a tap. */
void engine_read(const Engine *e, const Buffer *b, int layer_index, int64_t rows, int64_t columns, float *out);
/* The other way round, for a buffer of layout ROWS. */
void engine_write(const Engine *e, const Buffer *b, int layer_index, int64_t rows, int64_t columns, const float *values);

#endif
