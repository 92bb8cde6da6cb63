/* plan.h: one target's way to compute a Graph: kernels, layouts, offsets, shares of the work and barriers.
 *
 * Two targets share these types. TARGET_PANELS is what emitted C computes: panels of sixteen, bias
 * and activation fused, work split over threads. TARGET_ROW_MAJOR is for the generic engine: an
 * operation at a time, one thread. No C text here. Everything lives in the session's arena. Bytes are
 * offsets from the start of a state or of the packed data. */
#ifndef PLAN_H
#define PLAN_H

#include "graph.h"
#include "rt.h"

typedef enum PlanTarget { TARGET_PANELS, TARGET_ROW_MAJOR } PlanTarget;

typedef struct PlanOptions {
    PlanTarget target;
    bool taps;                      /* keep every named intermediate, and fuse nothing across one */
    int slots;                      /* sequences in a state */
    int max_threads;                    /* most threads that a state has room for */
} PlanOptions;

typedef enum Kernel {
#define RT_KERNEL_ROW(id, format, file, function, parameters) KERNEL_##id,
#include "kernels.def"
#undef RT_KERNEL_ROW
    KERNEL_CUSTOM,                  /* the C of an xf.op; it is not a kernel of the library */
    KERNELS
} Kernel;
/* rt_linear_f32, by the format of its weights or of its keys and values too, or the name of the
 * xf.op. */
struct PlanOp;
const char *plan_kernel_name(const struct PlanOp *op);
/* Whether it stores or reads keys and values of f16. */
bool plan_op_is_half(const struct PlanOp *op);
/* Whether it is a linear that rounds its rows of x. */
bool plan_op_rounds(const struct PlanOp *op);

typedef enum Format {
#define FORMAT(id, name, word, bits, dtype, size, doc) FORMAT_##id,
#include "formats.def"
#undef FORMAT
    FORMATS
} Format;
typedef struct FormatRow { const char *name, *word; int bits; const char *dtype; int size; const char *doc; } FormatRow;
extern const FormatRow format_rows[FORMATS];
static inline int format_bits(Format f) { return format_rows[f].bits; }
/* Panels of weights of fewer bits than 32; those in groups, whose kernels round activations too. */
static inline bool format_is_narrow(Format f) { return format_bits(f) > 0 && format_bits(f) < 32; }
static inline bool format_is_quantised(Format f) { return format_bits(f) > 0 && format_bits(f) <= 8; }

/* ---- weights -------------------------------------------------------------------------------------------- */

/* One tensor of the packed file. For a block of layers there is one per layer, `stride` bytes
 * apart. */
typedef struct Packed {
    const char *name;               /* `{}` stands for the layer */
    const char *identifier;         /* C, upper case, unique in the plan: ENCODER_LAYER_SELF_Q; NULL of integers */
    Format format;
    const Tensor *tensor[2];        /* weight and bias, or gain and bias; [1] may be NULL; both NULL for integers */
    const int32_t *integers;  int64_t integer_count;
    int64_t shape[3];  int rank;    /* as in the file */
    size_t bytes, offset, stride;   /* offset: from the start of the data, for layer 0 of its block */
    int layers;                     /* 0: one, not indexed */
    const struct PlanBlock *block;
} Packed;

/* ---- buffers -------------------------------------------------------------------------------------------- */

typedef enum Place { PLACE_SCRATCH, PLACE_SLOT, PLACE_TAP } Place;
typedef enum Layout { LAYOUT_ROWS, LAYOUT_KEYS, LAYOUT_VALUES, LAYOUT_INTS, LAYOUT_THREADS } Layout;

/* Bytes of a state. Several tensors share one where an operation works in place. */
typedef struct Buffer {
    const char *name;               /* lower case, unique in its block, or in the plan where it outlives one */
    const char *variable;           /* what a block calls it: self_q */
    const Tensor *tensor;           /* the first one held */
    Place place;
    Layout layout;
    int64_t heads;                  /* KEYS, VALUES: kv heads; a tap of weights: heads; else 1 */
    int64_t rows, width, stride;    /* of each head; stride in elements; KEYS, VALUES: rows is the capacity */
    bool half;                      /* KEYS, VALUES: of f16, rt_f16 in C; else of f32, as all that is not an integer */
    size_t bytes, offset;           /* from the start of scratch, slot or taps, layer 0 */
    size_t layer_stride;  int layers;               /* SLOT and TAP: one per layer */
    struct PlanBlock *block;        /* NULL: it outlives its block */
    int first_phase, last_phase;    /* of its block, in which it holds something */
    struct Buffer *parent;  int64_t column;          /* a view: these columns of another buffer, from this one on; else NULL, 0 */
} Buffer;

/* ---- operations ----------------------------------------------------------------------------------------- */

/* How threads share an operation. COLUMNS are groups of sixteen, which panels are too. */
typedef enum Split { SPLIT_ROWS, SPLIT_COLUMNS, SPLIT_HEADS, SPLIT_FIRST_THREAD } Split;

enum { MOST_JOINED = 4 };           /* linears in one operation */

typedef struct PlanOp {
    const Node *node;
    const Tensor *result;           /* what it leaves: the node's result, or that of the one fused into it */
    Kernel kernel;                  /* PANELS only */
    Buffer *in[NODE_INPUTS], *out[3];       /* NULL where left out or not wanted */
    Buffer *scratch;                /* attention, linears that round their rows: one piece per thread */
    Packed *weights;                /* NULL where there are none */
    Packed *joined[MOST_JOINED];  int joined_count; /* linears in one: their weights, `weights` first, each right behind the one before */
    Packed *params[NODE_INPUTS];    /* CUSTOM: of the inputs that are parameters */
    int activation;                 /* RT_*; fused into a linear, or the operation itself */
    Split split;  int parts;        /* pieces there are to share; ROWS: their number at run time */
    bool barrier;                   /* a barrier stands before it */
    bool barrier_few;               /* and here too in a call of at most Plan's few_rows */
    int phase;                      /* number of barriers before it in its block */
    double flops;                   /* per row; for attention per row and key */
} PlanOp;

typedef struct PlanBlock {
    const Block *block;
    int64_t rows;                   /* bound */
    Count count;
    PlanOp *ops;  int op_count;
    Buffer **buffers;  int buffer_count;            /* that it alone uses */
    Buffer **views;  int view_count;                /* of those */
    Buffer *carry_in, *carry_out;
    int phases;
    size_t weights_offset, weights_stride;          /* layer 0, and from layer to layer */
    bool per_layer;                 /* uses weights, caches or taps indexed by layer */
} PlanBlock;

typedef struct PlanRun { PlanBlock *block; int first, count; } PlanRun;
typedef struct PlanProgram { const Program *program; PlanRun *runs; int count; } PlanProgram;

/* A tensor kept for looking at. Rows and columns in use are counted by `rows` and `columns`. */
typedef struct Tap { const char *name; const Tensor *tensor; Buffer *buffer; int layer, layer_index; } Tap;

/* Numbers that a call puts together, `count` of `size` bytes each, of the C type in `words`. */
typedef struct CallList { const char *name, *words; int64_t count; size_t size, offset; } CallList;
enum { CALL_LISTS = 3 };
static inline size_t plan_list_bytes(const CallList *l) { return (size_t)l->count * l->size; }

typedef struct Cost { double flops, weight_bytes; } Cost;

typedef struct Plan {
    const Graph *graph;
    PlanOptions options;
    PlanBlock **blocks;  int block_count;
    PlanProgram *programs;  int program_count;
    Buffer **buffers;  int buffer_count;            /* that outlive a block: inputs, what is passed on, caches, taps */
    Packed **packed;  int packed_count;             /* in order of execution */
    Format *formats;                /* of the graph's parameters by their ids: plan_weight_format, whatever the target */
    Tap *taps;  int tap_count;
    CallList lists[CALL_LISTS];  int list_count;    /* in the scratch; offsets from its start */
    size_t header_bytes, slot_bytes, scratch_bytes, tap_bytes, state_bytes;
    size_t slots_offset, scratch_offset, taps_offset;
    size_t blocks_offset;           /* in the scratch: where blocks have their own buffers, one block after the other */
    size_t saturated_offset;        /* of caches of f16, in the header: of each thread, whether it stored a number that f16 has not; 0: none */
    int back;                       /* of rings: how far a sequence may be taken back; 0: to any position */
    size_t weights_bytes;           /* of the packed data, without the file's head */
    int few_rows;                   /* up to so many rows of a decoder threads share a linear's panels, not its rows; 0: always its rows */
    bool one_stream;                /* one row of a decoder reads more weights than caches hold: RtLinear's one_stream */
    Packed *source_characters, *source_texts, *target_characters, *target_texts;    /* NULL without a tokenizer of characters */
    Packed *tokenizer;              /* the blob of rt_tokenizer_format.h; NULL without it */
} Plan;

/* Rows of one decoder call: what all slots can hold, up to a bound past which a matrix kernel
 * gains no more. */
int64_t plan_decoder_rows(const Model *m, int slots);
/* Whether state and weights have a sensible size, worked out in floating point; false after an
 * error reported at the model. To be asked before plan_make. */
bool  plan_fits(Diag *d, const Graph *g, PlanOptions options);
/* Whether each pattern of dtype matches a matrix, and one alone decides of each; false after
 * errors reported at them. Likewise. */
bool  plan_dtypes_hold(Diag *d, const Graph *g);
/* Whether it certainly has the memory, by the same bounds: then there is no need to ask for
 * more. */
bool  plan_is_small(const Graph *g, PlanOptions options);
/* Whether this machine has the memory to run it, or to pack it, which holds no weights but
 * slices of them; false after a reported error, EXIT_NO_FEATURE, with what other choices would
 * take. */
typedef enum PlanWork { WORK_RUN, WORK_PACK } PlanWork;
bool  plan_fits_machine(Diag *d, const Plan *p, PlanWork work);
/* Bytes of weights as f32 that the generic engine holds at once: all, or, where they are more than
 * half of the memory, those of the largest layer; *anew receives whether each is read where it is
 * needed. */
double plan_generic_bytes(const Graph *g, bool *anew);
/* Scratch of a linear that rounds its rows: `pieces`, one a thread, or one that threads share by
 * rows; `rows` of `stride` floats each. */
typedef struct RoundedSize { int64_t pieces, rows, stride; } RoundedSize;
RoundedSize plan_rounded_size(const Plan *p, const PlanBlock *b, const PlanOp *op);
/* The most rows of a decoder of which threads share a linear's panels. */
enum { PLAN_FEW_ROWS = 16 };

/* All passes below in order. */
Plan *plan_make(Arena *a, const Graph *g, PlanOptions options);

/* Blocks into operations: fuse, choose a kernel and layouts, work in place where that is safe.
 * needs: graph.   gives: blocks, programs, buffers without offsets, packed without offsets,
 * taps. */
void plan_lower(Arena *a, Plan *p);
/* needs: operations.   gives: op->barrier, op->phase, buffer phases. */
void plan_split(Plan *p);
/* needs: packed.   gives: packed->offset, plan->weights_bytes, plan->one_stream, plan->few_rows. */
void plan_weights(Plan *p);
/* needs: packed.   gives: lists without offsets. */
void plan_lists(Plan *p);
/* needs: phases, lists.   gives: buffer->offset, list->offset, plan->state_bytes. */
void plan_memory(Arena *a, Plan *p);
/* die() where two buffers that are in use together overlap, lie outside, or are misaligned. */
void plan_check(const Plan *p);
/* Its operations with their kernels, its buffers and weights, or both. */
enum { PLAN_KERNELS = 1, PLAN_MEMORY = 2 };
void plan_dump(const Plan *p, unsigned parts, FILE *to);

/* Floating-point operations and bytes of weights read by `program` for `rows` rows that see
 * `keys` keys each. */
Cost plan_cost(const Plan *p, ProgramKind program, int64_t rows, int64_t keys, int64_t memory_keys);
Cost plan_op_cost(const PlanOp *op, int64_t rows, int64_t keys, int64_t memory_keys);      /* of one operation, once */
const PlanProgram *plan_program(const Plan *p, ProgramKind kind);       /* NULL if absent */
int plan_rows(const Plan *p);                   /* how many rows of a decoder one call takes; 1 without such a call */
/* The part of a program that a call executes: the first `runs` of its runs, and in the last layer
 * of the last of them the first `last_ops` operations. PROGRAM_PREFILL is PROGRAM_DECODE up to the
 * operation that stores the last layer's keys and values: nothing reads what follows, unless the
 * plan has taps. Of another program it is the whole. program is NULL if the plan has none. */
typedef struct PlanPart { const PlanProgram *program; int runs, last_ops; } PlanPart;
PlanPart plan_part(const Plan *p, ProgramKind kind);
/* How many layers of run `run` execute its operation `op`. */
int plan_part_layers(const PlanPart *part, int run, int op);
/* Bytes from the start of a state to a buffer, for slot 0 and layer index 0. */
size_t plan_address(const Plan *p, const Buffer *b);
/* The hidden states that `encode` of an encoder alone leaves: of its last norm or, where it has
 * none, of its last layer; and what its head makes of them. NULL without an encoder, a head. */
const Buffer *plan_hidden(const Plan *p);
const Buffer *plan_vector(const Plan *p);
/* Bytes of the scratch before its lists. */
enum { PLAN_CHARACTER_BYTES = 4, PLAN_TOKEN_BYTES = 8192 };                /* of the longest, as text */
size_t plan_lists_offset(const Plan *p);
const CallList *plan_list(const Plan *p, const char *name);             /* NULL: there is none */
Buffer *plan_buffer(const Plan *p, const char *name);                   /* one that outlives its block; NULL if absent */

/* The panels that stand for a parameter of the model: what the dtype says of those that linears
 * and embeddings read, and nothing else. */
Format plan_weight_format(const Graph *g, const Tensor *t);

static inline bool kernel_is_store(Kernel k) { return k == KERNEL_STORE_K || k == KERNEL_STORE_V || k == KERNEL_RING_K || k == KERNEL_RING_V; }
static inline bool kernel_is_linear(Kernel k) { return k == KERNEL_LINEAR || k == KERNEL_LINEAR_GATE || k == KERNEL_LINEAR_ADD; }
static inline bool kernel_is_attention(Kernel k) { return k == KERNEL_ATTENTION || k == KERNEL_WINDOW; }
/* The row of the element-wise operation that a kernel computes, or NULL. */
const OpRow *kernel_element(Kernel kernel);

/* Bytes of a number of a buffer. */
static inline size_t buffer_element_bytes(const Buffer *b) { return b->half ? sizeof(rt_f16) : sizeof(float); }

static inline int64_t pad16(int64_t n) { return (n + 15) / 16 * 16; }
static inline size_t pad64(size_t n) { return (n + 63) / 64 * 64; }

#endif
