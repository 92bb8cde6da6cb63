/* engine.h: run a Plan; the same calls for every kind of engine.
 *
 * An engine holds one state. Everything it owns lives until engine_close. Calls return an
 * rt_status, as the emitted functions do; system errors are reported to the Diag when the engine is
 * opened. */
#ifndef ENGINE_H
#define ENGINE_H

#include "pack.h"

typedef enum EngineKind {
    ENGINE_ANY,                     /* not specified: a command uses its default, or all */
    ENGINE_NATIVE,                  /* emitted C, compiled by a C compiler and loaded */
    ENGINE_JIT,                     /* emitted C, compiled in memory by libtcc */
    ENGINE_GENERIC                  /* interprets the Plan's operations, with OpenBLAS */
} EngineKind;

/* The names of the kinds, from ENGINE_NATIVE on. */
#define ENGINE_WORDS "native", "jit", "generic"
/* The name of a kind, "" for ENGINE_ANY; the kind of a name, ENGINE_ANY for other words. */
const char *engine_name(EngineKind kind);
EngineKind engine_of_name(const char *word);

typedef struct Engine Engine;
typedef struct EngineOps {
    rt_status (*encode)(Engine *e, int slot, const int *ids, int n);
    /* Encode several sources, for encoder-only models, as the emitted NAME_encode_batch does; NULL:
     * the caller encodes them one by one. */
    rt_status (*encode_batch)(Engine *e, const int *ids, const int *lengths, const int *firsts, int count, float *vectors);
    rt_status (*step)(Engine *e, int id);                   /* append one token to slot 0 */
    rt_status (*next)(Engine *e, int id, int *next);        /* step, and the argmax of its logits */
    /* Append n <= engine_rows tokens; those of a slot are adjacent. prefill leaves no logits;
     * decode_greedy also gives the argmax for each. */
    rt_status (*decode)(Engine *e, const rt_token *rows, int n);
    rt_status (*prefill)(Engine *e, const rt_token *rows, int n);
    rt_status (*decode_greedy)(Engine *e, const rt_token *rows, int n, int *next);
    /* The output of the last step or decode: [n][engine_logits_stride]; log-probabilities if the
     * model ends in a log-softmax. After next and decode_greedy, it is the logits even then. */
    const float *(*logits)(const Engine *e);
    rt_status (*fork)(Engine *e, int from, int to);         /* copy a slot's sequence and source */
    rt_status (*clear)(Engine *e);                          /* forget the sequence of slot 0, not its source */
    rt_status (*run)(Engine *e);                            /* run an xf.graph on its inputs */
    rt_status (*threads)(Engine *e, int threads);
    rt_team *(*team)(const Engine *e);                      /* the threads that share its calls; NULL: none */
    void (*close)(Engine *e);
} EngineOps;

/* Set the number of threads; after a reported error it returns false, and the engine keeps its
 * threads. */
bool engine_start_threads(Diag *d, Engine *e, int threads);

/* Time to emit C, to compile it, to pack the weights; whether the compiled code (of a native
 * engine) and the packed weights existed before. code_bytes: instructions in the loaded library, 0
 * without one. */
typedef struct EnginePhases {
    int64_t emit_ns, compile_ns, pack_ns;
    bool compiled_before, packed_before;
    int64_t code_bytes;
} EnginePhases;

struct Engine {
    const char *name;               /* engine_name; for native code with the compiler:
                                     * "native (gcc)" */
    const EngineOps *ops;
    const Plan *plan;
    unsigned char *state;           /* plan->state_bytes, 64-byte aligned */
    void *own;                      /* private data of this kind of engine */
    int second;                     /* offset of the second text of a pair in the next sources, for
                                     * models with token types; 0: there is none */
    EnginePhases phases;            /* how long it took to open; zeros if unknown */
};

/* Open an engine that runs the plan's operations one by one, with OpenBLAS. plan->options.target
 * must be TARGET_ROW_MAJOR. The engine keeps all weights as f32 or, if plan_generic_bytes says so,
 * reads them for each operation that needs them. beside: NULL, or a generic engine on another plan
 * of the same graph; if both plans round alike, the two share its kept weights, and either may be
 * closed first. NULL after a reported error. */
Engine *generic_open(Arena *a, Diag *d, const Plan *p, const Engine *beside);
/* Like generic_open, with plain loops instead of OpenBLAS: slow, but the same bits on every
 * machine. keep: keep all weights; else each is read when needed, matrices a few rows at a time,
 * with up to eight threads. The results do not depend on `keep`. */
Engine *generic_open_plain(Arena *a, const Plan *p, bool keep);
/* Like generic_open_plain without keep, but takes matrices from packed data of the same model,
 * where they are already rounded. */
Engine *generic_open_packed(Arena *a, const Plan *p, const PackedData *packed);
/* Replace the numbers of a tensor of the model, given row-major as in the model, everywhere a
 * generic engine uses it. */
void generic_set_weight(Engine *e, const char *name, const float *values);

/* generic_reads_anew: true if a generic engine keeps no weights. Use generic_walk for such an
 * engine: it appends n ids to the empty sequence of slot 0 and takes all of them through a layer
 * before it reads the weights of the next layer. The results are those of calling `step` for each
 * id in turn. After an id has passed a layer, `at` is called, while the taps and results of the
 * block are those of that id. id: its index in `ids`; layer: the index of the layer in the
 * block. */
bool generic_reads_anew(const Engine *e);
typedef void EngineAt(void *user, int id, const PlanBlock *b, int layer);
rt_status generic_walk(Engine *e, const int *ids, int n, EngineAt *at, void *user);

/* After computing each tapped tensor of two dimensions, a generic engine replaces it with the one
 * that another engine computed. This way each tensor is compared by itself, and rounding
 * differences do not accumulate. `guide` returns the other engine's tensor of that name,
 * [rows][columns] as in a trace, or NULL; a NULL guide turns this off. */
typedef const float *EngineGuide(void *user, const char *name);
void generic_follow(Engine *e, EngineGuide *guide, void *user);
/* With `weigh`, the taps of a generic engine receive, instead of each number, the sum of the
 * absolute values of its terms; for a linear, |bias| + sum |w x|. The sum is never less than the
 * absolute value of the number, and is far larger if terms cancel. The computation itself is
 * unchanged. */
void generic_weigh(Engine *e, bool weigh);

/* Forget every sequence and source, and set the inputs of an xf.graph to the numbers of its spec,
 * or to zeros if it gives none; inputs set before are lost. */
void engine_reset(Engine *e);
/* engine_inputs resets only the inputs, engine_forget only sequences and sources. The other two are
 * for an xf.graph. engine_has_room: true if the next run fits into the caches. engine_run: run,
 * beginning a new sequence if it does not fit. */
void engine_inputs(Engine *e);
void engine_forget(Engine *e);
bool engine_has_room(const Engine *e);
rt_status engine_run(Engine *e);
/* True if the masks and biases of an xf.graph contain only allowed numbers; `inputs`: check those
 * that are inputs, else those that a run computes. engine_fault: what is wrong with the first one
 * that contains a number that is not allowed; NULL if there is none. */
bool engine_holds(const Engine *e, bool inputs);
const char *engine_fault(Arena *a, const Engine *e);
/* Set the integer inputs for the next run. */
void engine_fill(Engine *e);
/* The number of rows in slot 0 so far; points into the state. */
int32_t *engine_position(const Engine *e);
/* Like decode or, unless next is NULL, decode_greedy, but with a call for each row. The results are
 * bit-identical, and the logits of all rows are available. RT_NO_ROOM: no memory. */
rt_status engine_each_row(Engine *e, const rt_token *rows, int n, int *next);
/* True if numbers saturated at ±65504 in an f16 KV cache since engine_reset or engine_forget. */
bool engine_saturated(const Engine *e);
/* engine_rows: the maximum number of rows per call. engine_logits_stride: in floats. */
int engine_rows(const Engine *e);
int64_t engine_logits_stride(const Engine *e);
/* Until the next call of engine_pair, the first `first` ids of each source, which has n ids, are
 * those of the first text of a pair; 0 or n: there is no second text. Ignored for models without
 * token types. */
void engine_pair(Engine *e, int first, int n);
/* Set an input of an xf.graph: values[heads][rows][columns]; only a bias has several heads. */
void engine_set_input(Engine *e, const char *name, const float *values);
void engine_close(Engine *e);

/* Copy a tensor out of the state: out[heads][rows][columns], for the `rows` and `columns` in use.
 * The buffer is an output, or another buffer with layout ROWS or INTS (copied as floats) that
 * outlives its block. layer_index: 0 unless it is a tap. */
void engine_read(const Engine *e, const Buffer *b, int layer_index, int64_t rows, int64_t columns, float *out);
/* Copy values[heads][rows][columns] into a buffer of layout ROWS. */
void engine_write(const Engine *e, const Buffer *b, int layer_index, int64_t rows, int64_t columns, const float *values);

#endif
