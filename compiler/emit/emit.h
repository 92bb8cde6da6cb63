/* emit.h: emit a Plan as C text.
 *
 * The text depends only on the arguments of emit_files or emit_one_text, not on the time or on the
 * folders of files.
 * The files emit_*.c keep longer pieces of C in templates with named placeholders. */
#ifndef EMIT_H
#define EMIT_H

#include "pack.h"
#include "plan.h"
#include "text.h"
#include "tuning.h"

/* How weights reach a program. BEHIND: on Linux they are appended to the executable; elsewhere they
 * stay in a file. */
typedef enum WeightsForm { WEIGHTS_EMBED, WEIGHTS_FILE, WEIGHTS_LITERAL, WEIGHTS_BEHIND } WeightsForm;

/* The kernels that a model calls: copies of the library's files; plain C unrolled for its shapes;
 * or kernels compiled into the process that runs the C in memory. */
typedef enum KernelsForm { KERNELS_LIBRARY, KERNELS_UNROLLED, KERNELS_BOUND } KernelsForm;

/* How a program runs its layers. BY_SPEC: as the spec says; CALLS: with one call per layer; LOOP:
 * in a loop. */
typedef enum LayersForm { LAYERS_BY_SPEC, LAYERS_CALLS, LAYERS_LOOP } LayersForm;

/* The form in which a Plan is emitted. All zeros is the default. */
typedef struct EmitForm {
    WeightsForm weights;
    KernelsForm kernels;
    LayersForm layers;
    int unroll;                     /* terms of a sum per iteration of an unrolled kernel's loop; 0:
                                     * as the spec says */
    const char *isa;                /* as in --isa: "native", "avx512,portable"; NULL is native */
    const Tuning *tuning;           /* the default number of threads, and how to cut linears, with
                                     * times for comments; NULL: the defaults. UNROLLED kernels
                                     * ignore the cuts */
} EmitForm;

/* True if the form's kernels support the dtype of the model's weights; false after a reported
 * error. */
bool emit_form_fits(Diag *d, const Model *m, EmitForm form);

typedef struct Emit {
    Arena *arena;
    unsigned isa;                   /* KERNELS_BOUND: instruction sets of the kernels */
    unsigned hooks;                 /* KERNELS_BOUND: EMIT_* */
    int polled;                     /* calls of rt_poll emitted so far in this program */
    const Plan *plan;
    const Model *model;
    const char *name, *upper;       /* dates, DATES */
    const char *identity;           /* sixteen hex digits: a hash of the graph, the layout of the
                                     * packed file and the format of the KV cache */
    size_t head_bytes;              /* of the packed file's header, before its data */
    EmitForm form;
    const char *const *isas;  int isa_count;        /* if several: variants, tried in this order */
    struct Wrapper **wrappers;  int wrapper_count, wrapper_room;    /* one per kernel and shape, in
                                                                     * order of first use */
    NameMap *wrapper_of;            /* the wrappers by kernel and shape */
    NameMap *variables;             /* names of variables in blocks, which no wrapper may have */
    NameMap *namesakes;             /* int *: how many wrappers want a name */
    NameMap *members;               /* const char *: of structs slot and state, by buffer name */
    NameMap *tensors;               /* members of the structs of weights, by identifier */
} Emit;

/* A function of the kernels header: one kernel with one shape. */
typedef struct Wrapper {
    const char *name;               /* linear_64x256_relu */
    const PlanOp *op;               /* the first operation that uses it */
    Kernel kernel;
    Split split;                    /* FIRST_THREAD if one thread computes all of it */
    /* attention: keeps scores or weights; has a bias by distance, a mask, a tensor to add;
     * linear: rounds its rows of x */
    bool taps, bias, masked, added, rounds;
    bool both;                      /* its window extends to both sides of a row */
    int64_t reach, mask_stride;     /* of that bias and mask */
    int64_t added_stride, added_head;       /* as in RtAttentionExtra */
    const char *shape;              /* initialiser of the kernel's shape; of an xf.op, the body of
                                     * the function */
    const char *doc;                /* what it computes, with shapes */
    int64_t x_stride, y_stride, z_stride;           /* of operands that are split by rows */
    int parts;                      /* panels, heads or groups in all */
    LinearCut cut;                  /* of a linear: USUAL, or a cut that emit_can_cut allows */
    const TunedCall *tuned;         /* its measurements, or NULL */
} Wrapper;

typedef struct EmittedFile { const char *name; Text text; } EmittedFile;

/* The files of a model's folder, without its weights and the common runtime: NAME.c, NAME.h,
 * NAME_kernels.h, NAME_main.c, NAME_settings.c for a decoder, NAME_generate.c if it answers texts,
 * NAME_weights.c for embedded weights, example.c, Makefile; with several instruction sets
 * NAME_variants.c and a NAME_SET.c for each; with KERNELS_LIBRARY the kernel files, as
 * runtime/FILE. *n receives the number of files. */
EmittedFile *emit_files(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form, int *n);

/* Callbacks into the process that runs the code. POLLS: the code stops between blocks if rt_poll
 * says so. WATCHES: after each operation, between two barriers, thread 0 calls rt_watch(block,
 * operation, layer, rows). */
enum { EMIT_POLLS = 1, EMIT_WATCHES = 2 };

/* One text that includes no file: rt.h, rt_rows.h for a decoder, NAME.h, NAME_kernels.h with
 * prototypes instead of the library's kernels (compiled for `isa`), NAME.c. #line names the origin
 * of each part. Only `layers` and `tuning` of the form are used. hooks: EMIT_*. */
Text emit_one_text(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form, unsigned isa, unsigned hooks);

/* The name, without NAME_, of the call that returns the decoder's output: "scores" if it is
 * log-probabilities, else "logits". */
const char *emit_scores(const Model *m);

/* NAME_kernels.h in each KernelsForm, without the functions of xf.ops. */
void emit_kernels(Emit *e, Text *out);
void emit_unrolled(Emit *e, Text *out);
void emit_bound(Emit *e, Text *out);
/* With KERNELS_LIBRARY: append from files[*n] on the kernel files that NAME_kernels.h includes, and
 * the files that these include, without those that folder.c copies. files: room for RUNTIME_FILES
 * more. */
void emit_kernel_files(Emit *e, EmittedFile *files, int *n);
/* Append a runtime file. Its #includes of our files are dropped, except that those of two .def
 * tables are replaced by the tables' text. */
void emit_paste(Text *out, const char *file);
/* emit_batches: true if several sources may be encoded at once: for encoder-only models.
 * emit_pools: true if the model's head must then run once per source, since it pools. */
bool emit_batches(const Emit *e);
bool emit_pools(const Emit *e);
/* Where prefill leaves its last layer early: after the first `ops` operations of `block`, in layer
 * `layer`. block is NULL if prefill runs the whole layer, or if the plan has no PROGRAM_DECODE. */
typedef struct EmitPrefillEnd { const PlanBlock *block; int ops, layer; } EmitPrefillEnd;
EmitPrefillEnd emit_prefill_end(const Plan *p);
void emit_blocks(Emit *e, Text *out);
void emit_programs(Emit *e, Text *out);
/* True if a state has room for several threads; otherwise the text is single-threaded. */
bool emit_has_threads(const Emit *e);
/* In a function with a model m and its state s: "job j = {" and the members that every call sets,
 * without a comma at the end. */
const char *emit_job(Emit *e);
/* The call of a body that executes a program from run number `from` on, in a function with a job j
 * and a model m, without a semicolon. */
const char *emit_body_call(Emit *e, const char *body, ProgramKind kind, int from);
void emit_settings(Emit *e, Text *out);
void emit_generate(Emit *e, Text *out);
void emit_makefile(Emit *e, Text *out);
void emit_variants(Emit *e, Text *out);
void emit_variant(Emit *e, Text *out, int isa);
/* emit_loops: true if a form loops over layers. emit_leaves_layers: true if some layer of a stack
 * is outside any loop, because its neighbours differ from it. */
bool emit_loops(const Plan *p, EmitForm form);
bool emit_leaves_layers(const Plan *p);
void emit_without_headers(Arena *a, Text *out);                       /* rt.h and rt_plain.h for a compiler without headers */
void emit_custom(Emit *e, Text *out);                       /* the functions of xf.ops, at the end of NAME_kernels.h */

/* The wrapper for an operation, made on first use; call emit_wrappers_begin once before. */
void emit_wrappers_begin(Emit *e);
const Wrapper *emit_wrapper(Emit *e, const PlanOp *op);
/* True for a linear over rows if threads divide its panels, not its rows, in calls of few rows. */
bool emit_takes_panels(const Emit *e, const Wrapper *w);
/* True if a linear can be cut this way and the cut differs from the default code. A cut by rows
 * needs more rows than it takes at a time. A cut by panels needs one row and several f32 panels;
 * with quantized weights, each piece would round the row again. */
bool emit_can_cut(const Emit *e, const Wrapper *w, LinearCut cut);
/* An Emit in which all functions of a plan's text have their names, for emit_wrapper to find. */
Emit *emit_named(Arena *a, const Plan *p);
/* How main refers to weights inside the program: a declaration and an expression; "" and "NULL" if
 * they are in a file. */
const char *emit_weights_declaration(Emit *e);
const char *emit_weights_symbol(Emit *e);
/* A C expression for the path of the file that contains the weights, and the macro that it needs:
 * with WEIGHTS_BEHIND, the Makefile appends them to the program only on Linux. program: the path of
 * the program there. */
const char *emit_weights_place(Emit *e);
const char *emit_weights_define(Emit *e, const char *program);
/* True if the program reads its weights from a file, its own or another. */
bool emit_has_weights_file(const Emit *e);
/* "2 layers, 4 heads of 16, …"; "dates.lua". */
const char *emit_stack(Emit *e, const Stack *s);
const char *emit_spec_name(const Emit *e);
const char *emit_dtypes(Emit *e);                          /* dtypes of the packed weights: "f32", "bf16 and int8" */
/* The compiler's optimisation flag: -O3 to vectorise unrolled plain C; -O2 for the library's
 * kernels, which use SIMD already: -O3 would only make them a fifth larger. */
const char *emit_optimise(const Emit *e);
/* Lines of a comment: the costs of calls of encode, step and run, as far as the plan has them. */
const char *emit_costs(Emit *e);
/* RT_RELU and the like. */
const char *emit_activation(Emit *e, int activation);
const char *emit_upper(Arena *a, const char *text);
const char *emit_number(Emit *e, int64_t n);                /* in decimal */
const char *emit_real(Arena *a, double x);                  /* a float of C: 0.25f, 1.0f */
/* The value of an element-wise operation on `a` and `b`: for a comment or, if `plain`, as
 * freestanding C on floats. */
const char *emit_element(Emit *e, const OpRow *row, const char *a, const char *b, bool plain);
/* Break lines of C that are longer than 100 columns. */
void emit_fit(Text *text);

/* ---- emit_weights.c ---- */

/* Structs of panels, a struct for each block with weights, and macros for the offsets of all other
 * packed tensors; call emit_weights_begin once before. */
void emit_weights_begin(Emit *e);
void emit_weights_structs(Emit *e, Text *out);
/* Declare `w`, a pointer to the weights of a block; by_layer: to those of the layer `layer`. */
void emit_weights_pointer(Emit *e, Text *out, const PlanBlock *owner, bool by_layer);
/* C expressions: a pointer to the weights of an operation, "w->norm_0"; a pointer to the floats of
 * a parameter. emit_weight_words: the name of a tensor in its block, "self_q". */
const char *emit_weight(Emit *e, const PlanOp *op);
const char *emit_weight_floats(Emit *e, const Packed *k);
const char *emit_weight_words(Emit *e, const Packed *k);

/* ---- emit_state.c ---- */

/* struct slot and struct state, with every buffer that outlives its block; call emit_state_begin
 * once before. */
void emit_state_begin(Emit *e);
void emit_state(Emit *e, Text *out);
/* A C expression: a pointer to the first number of a buffer that outlives its block, in the state
 * `s`, and in the layer `layer` if the buffer has layers: "s->encoder_x[0]". slot: an expression
 * for the number of the slot if the buffer is in a slot, else NULL. */
const char *emit_in_state(Emit *e, const Buffer *b, const char *slot);
/* The C type of a buffer's elements: int, rt_f16, int8_t, float. */
const char *emit_buffer_type(const Buffer *b);

#endif
