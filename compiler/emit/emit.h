/* emit.h: a Plan as C text.
 *
 * The text depends on the spec alone: no dates, paths or options of the command line. Logic stands in the emit_*.c,
 * text in templates with named places. */
#ifndef EMIT_H
#define EMIT_H

#include "pack.h"
#include "plan.h"
#include "text.h"
#include "tuning.h"

/* How weights reach a program. */
/* BEHIND: they follow the program in its file. */
typedef enum WeightsForm { WEIGHTS_EMBED, WEIGHTS_FILE, WEIGHTS_LITERAL, WEIGHTS_BEHIND } WeightsForm;

/* What a model computes with: the library's kernels, pasted; plain C written for its shapes; or the compiled kernels of
 * whoever runs it in memory. */
typedef enum KernelsForm { KERNELS_LIBRARY, KERNELS_UNROLLED, KERNELS_BOUND } KernelsForm;

/* How a program runs through layers: as the spec says, a call after the other, or a loop. */
typedef enum LayersForm { LAYERS_BY_SPEC, LAYERS_CALLS, LAYERS_LOOP } LayersForm;

/* The forms that one Plan can take. All of 0 is the default. */
typedef struct EmitForm {
    WeightsForm weights;
    KernelsForm kernels;
    LayersForm layers;
    int unroll;                     /* terms of a sum in one turn of an unrolled kernel's loop; 0: as the spec says */
    const char *isa;                /* as --isa: "native", "avx512,portable"; NULL is native */
    const Tuning *tuning;           /* how calls are cut, with their times as comments; NULL: as usual. Of no meaning to UNROLLED */
} EmitForm;

/* Whether the kernels of a form are written for the model's weights; false after a reported error. */
bool emit_form_fits(Diag *d, const Model *m, EmitForm form);

typedef struct Emit {
    Arena *arena;
    unsigned isa;                   /* KERNELS_BOUND: instruction sets of the kernels */
    unsigned hooks;                 /* KERNELS_BOUND: of EMIT_* */
    int polled;                     /* of such questions so far */
    const Plan *plan;
    const Model *model;
    const char *name, *upper;       /* dates, DATES */
    const char *identity;           /* sixteen hex digits: spec and layout */
    size_t head_bytes;              /* of the packed file, before its data */
    EmitForm form;
    const char *const *isas;  int isa_count;        /* more than 1: variants, chosen at bind in this order */
    struct Wrapper **wrappers;  int wrapper_count, wrapper_room;    /* one per distinct shape of a kernel, in order of first use */
    NameMap *wrapper_of;            /* the same by kernel and shape */
    NameMap *variables;             /* of blocks: no wrapper may be called so */
    NameMap *namesakes;             /* int *: how many wrappers wanted a name */
    NameMap *members;               /* const char *: of struct slot and struct state, by the names of buffers */
    NameMap *tensors;               /* members of the structs of weights, by their identifiers; see emit_weights.c */
} Emit;

/* A function of the kernels header: one kernel with one shape. */
typedef struct Wrapper {
    const char *name;               /* linear_64x256_relu */
    const PlanOp *op;               /* the first that uses it */
    Kernel kernel;
    Split split;
    /* attention that leaves scores or weights, has a bias by distance, a mask, more to add */
    bool taps, bias, masked, added, rounds;
    bool both;                      /* its window lies on both sides of a row */
    int64_t reach, mask_stride;     /* of that bias and mask */
    int64_t added_stride, added_head;       /* as in RtAttentionExtra */
    const char *shape;              /* initialiser of the kernel's shape */
    const char *doc;                /* what it computes, with shapes */
    int64_t x_stride, y_stride, z_stride;           /* of operands that a share of rows moves along */
    int parts;                      /* panels, heads or groups of the whole */
    LinearCut cut;                  /* of a linear; one that emit_can_cut */
    const TunedCall *tuned;         /* what was measured of it, or NULL */
} Wrapper;

typedef struct EmittedFile { const char *name; Text text; } EmittedFile;

/* The files of a model's folder, without its weights and the runtime that every model has: NAME.c, NAME.h, NAME_kernels.h,
 * NAME_main.c, NAME_settings.c of a decoder, NAME_generate.c where it has text, NAME_weights.c, example.c, Makefile; with several
 * instruction sets NAME_variants.c and a NAME_SET.c for each; the kernels that it calls, runtime/NAME. *n receives their number. */
EmittedFile *emit_files(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form, int *n);

/* Calls back into who runs it. POLLS: it stops between blocks when rt_poll says so. WATCHES: after each operation, when all
 * threads have met, thread 0 calls rt_watch(block, operation, layer, rows). */
enum { EMIT_POLLS = 1, EMIT_WATCHES = 2 };

/* One text that needs no file: rt.h, NAME.h, prototypes of the kernels (compiled for `isa`), NAME.c. #line says where each
 * part is from. Of the form, layers and tuning count. hooks: of EMIT_*. */
Text emit_one_text(Arena *a, const Plan *p, const char *identity, size_t head_bytes, EmitForm form, unsigned isa, unsigned hooks);

/* What the call is named that gives what a row of the decoder ends in: NAME_scores where it is
 * log-probabilities, else NAME_logits. */
const char *emit_scores(const Model *m);

/* Parts of NAME.c and NAME_kernels.h. */
void emit_kernels(Emit *e, Text *out);
void emit_unrolled(Emit *e, Text *out);
void emit_bound(Emit *e, Text *out);
/* The files of kernels that NAME_kernels.h includes, and those that they include. files: room for RUNTIME_FILES. */
void emit_kernel_files(Emit *e, EmittedFile *files, int *n);
/* Append a runtime file: includes of our own headers go, those of a table are replaced by its rows. */
void emit_paste(Text *out, const char *file);
/* Whether several sources may be encoded at once, an encoder's alone; whether each then has a head of its own to run. */
bool emit_batches(const Emit *e);
bool emit_pools(const Emit *e);
/* Where prefill leaves its last layer early: behind the first `ops` operations of `block`, in layer
 * `layer`. block is NULL where it runs the whole layer. */
typedef struct EmitPrefillEnd { const PlanBlock *block; int ops, layer; } EmitPrefillEnd;
EmitPrefillEnd emit_prefill_end(const Plan *p);
void emit_blocks(Emit *e, Text *out);
void emit_programs(Emit *e, Text *out);
/* Whether a state has room for more than one thread; without, the text is that of one. */
bool emit_has_threads(const Emit *e);
/* In a function with a model m and its state s: "job j = {" and what each call says of them, without a comma behind. */
const char *emit_job(Emit *e);
/* The call of a program's body in a function with a job j and a model m, without a semicolon. */
const char *emit_body_call(Emit *e, const char *body);
void emit_settings(Emit *e, Text *out);
void emit_generate(Emit *e, Text *out);
void emit_makefile(Emit *e, Text *out);
void emit_variants(Emit *e, Text *out);
void emit_variant(Emit *e, Text *out, int isa);
/* Whether a form loops over layers, and whether layers of a stack then stand alone, since their neighbours differ. */
bool emit_loops(const Plan *p, EmitForm form);
bool emit_leaves_layers(const Plan *p);
void emit_without_headers(Arena *a, Text *out);                       /* rt.h and rt_plain.h for a compiler without headers */
void emit_custom(Emit *e, Text *out);                       /* the functions of xf.ops, at the end of NAME_kernels.h */

/* The wrapper for an operation, made on first use; emit_wrappers_begin once before. */
void emit_wrappers_begin(Emit *e);
const Wrapper *emit_wrapper(Emit *e, const PlanOp *op);
/* Whether a share of rows is also one of panels: a linear that few rows may read. */
bool emit_takes_panels(const Emit *e, const Wrapper *w);
/* Whether a function can be cut so, and is then another than as usual: rows where many are shared out; panels where one row meets
 * several of f32, for with 8 bits each cut would round the row anew. */
bool emit_can_cut(const Emit *e, const Wrapper *w, LinearCut cut);
/* The functions that the text of a plan has, for emit_wrapper to find: an Emit in which they have their names. */
Emit *emit_named(Arena *a, const Plan *p);
/* How a main refers to weights inside the program: a declaration and an expression; "" and NULL for a file. */
const char *emit_weights_declaration(Emit *e);
const char *emit_weights_symbol(Emit *e);
/* The file in the folder that has them once it is built: the program, where they stand behind it. */
const char *emit_weights_place(Emit *e);
/* Whether a program reads them from a file, its own or another. */
bool emit_has_weights_file(const Emit *e);
/* "2 layers, 4 heads of 16, .."; "dates.lua". */
const char *emit_stack(Emit *e, const Stack *s);
const char *emit_spec_name(const Emit *e);
const char *emit_dtypes(Emit *e);                          /* those of the packed weights: "f32", "bf16 and int8" */
/* The flag of the C compiler. Plain C is for it to make vectors of; the library's kernels are vectors, and -O3 adds a fifth to
 * their size alone. */
const char *emit_optimise(const Emit *e);
/* Lines of a comment: what a call of each program costs. */
const char *emit_costs(Emit *e);
/* RT_RELU and the like. */
const char *emit_activation(Emit *e, int activation);
const char *emit_upper(Arena *a, const char *text);
const char *emit_number(Emit *e, int64_t n);                /* in decimal */
const char *emit_real(Arena *a, double x);                  /* a float of C: 0.25f, 1.0f */
/* The value of an element-wise operation of `a` and `b`, as a comment or, `plain`, as freestanding C of floats. */
const char *emit_element(Emit *e, const OpRow *row, const char *a, const char *b, bool plain);
/* Break the lines of C that are longer than 100 columns. */
void emit_fit(Text *text);

/* ---- emit_weights.c ---- */

/* A struct for each block with weights; emit_weights_begin once before. */
void emit_weights_begin(Emit *e);
void emit_weights_structs(Emit *e, Text *out);
/* Declares `w`, which points to the weights of a block, of the layer `layer` where it is one by layer. */
void emit_weights_pointer(Emit *e, Text *out, const PlanBlock *owner, bool by_layer);
/* A pointer to the weights of an operation, "w->norm_0"; to the floats of a parameter; the name of a tensor in its block, "self_q". */
const char *emit_weight(Emit *e, const PlanOp *op);
const char *emit_weight_floats(Emit *e, const Packed *k);
const char *emit_weight_words(Emit *e, const Packed *k);

/* ---- emit_state.c ---- */

/* struct slot and struct state, of every buffer that outlives its block; emit_state_begin once before. */
void emit_state_begin(Emit *e);
void emit_state(Emit *e, Text *out);
/* A pointer to the first number of such a buffer in the state `s`, in the layer `layer` where it has several:
 * "s->encoder_x[0]". slot: an expression for buffers of a slot, else NULL. */
const char *emit_in_state(Emit *e, const Buffer *b, const char *slot);
/* What C calls the numbers of a buffer: int, rt_f16, float. */
const char *emit_buffer_type(const Buffer *b);

#endif
