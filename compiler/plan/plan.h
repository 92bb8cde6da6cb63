/* plan.h: how a target computes a Graph: kernels, layouts, offsets, division of work, barriers.
 *
 * Two targets share these types. TARGET_PANELS is for emitted C: panels of sixteen, bias and
 * activation fused, work divided among threads. TARGET_ROW_MAJOR is for the generic engine: one
 * operation at a time, with threads only inside matrix products. A Plan contains no C text.
 * Everything lives in the arena given to plan_make. Offsets are in bytes; they count from the start
 * of a state or of the packed data, unless their comments name a part of these. */
#ifndef PLAN_H
#define PLAN_H

#include "graph.h"
#include "rt.h"

typedef enum PlanTarget { TARGET_PANELS, TARGET_ROW_MAJOR } PlanTarget;

typedef struct PlanOptions {
    PlanTarget target;
    bool taps;                      /* keep every named intermediate; nothing is fused across one */
    bool unfused;                   /* each operation of the graph is a separate call */
    int slots;                      /* sequences in a state */
    int max_threads;                /* threads that a state has room for */
    bool always_share;              /* threads share every call, however little work it has */
} PlanOptions;

typedef enum Kernel {
#define RT_KERNEL_ROW(id, format, file, function, parameters) KERNEL_##id,
#include "kernels.def"
#undef RT_KERNEL_ROW
    KERNEL_CUSTOM,                  /* the C of an xf.op, not a kernel of the library */
    KERNELS
} Kernel;
/* The name of an operation's kernel, with the format of its weights or of the KV cache:
 * rt_linear_f32; or the name of the xf.op. */
struct PlanOp;
const char *plan_kernel_name(const struct PlanOp *op);
/* plan_op_cache: the keys or values that an operation stores, or the keys that it reads; NULL if it
 * does neither. plan_op_kv_dtype: their dtype, KV_DTYPES_*; f32 if there are none. */
const struct Buffer *plan_op_cache(const struct PlanOp *op);
int plan_op_kv_dtype(const struct PlanOp *op);
/* True for a linear with quantized weights, which rounds its rows of x. */
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
/* narrow: panels of weights with fewer than 32 bits. quantised: those in groups, whose kernels
 * round activations too. */
static inline bool format_is_narrow(Format f) { return format_bits(f) > 0 && format_bits(f) < 32; }
static inline bool format_is_quantised(Format f) { return format_bits(f) > 0 && format_bits(f) <= 8; }

/* ---- weights -------------------------------------------------------------------------------------------- */

/* One tensor of the packed file. In a block of layers there is one per layer, `stride` bytes
 * apart. */
typedef struct Packed {
    const char *name;               /* `{}` is the layer */
    const char *identifier;         /* in C, upper case, unique in the plan: ENCODER_LAYER_SELF_Q;
                                     * NULL for integers */
    Format format;
    const Tensor *tensor[2];        /* weight or gain, and bias; [1] may be NULL; both are NULL for
                                     * integers */
    const int32_t *integers;  int64_t integer_count;
    int64_t shape[3];  int rank;    /* as in the file */
    size_t bytes, offset, stride;   /* offset: of layer 0 of its block, in the data */
    int layers;                     /* 0: one tensor, not indexed */
    const struct PlanBlock *block;
} Packed;

/* ---- buffers -------------------------------------------------------------------------------------------- */

typedef enum Place { PLACE_SCRATCH, PLACE_SLOT, PLACE_TAP } Place;
typedef enum Layout { LAYOUT_ROWS, LAYOUT_KEYS, LAYOUT_VALUES, LAYOUT_INTS, LAYOUT_THREADS, LAYOUT_COPIES } Layout;

/* A part of a state. COPIES: rows of which each thread has a copy. Tensors share one if an
 * operation works in place, if one is an alias of the other, or if they are a value passed between
 * blocks or a cache before and after an append. */
typedef struct Buffer {
    const char *name;               /* unique, ignoring case, in its block or, if it outlives the
                                     * block, in the plan */
    const char *variable;           /* its variable in the C of a block: self_q */
    const Tensor *tensor;           /* the first tensor in it */
    Place place;
    Layout layout;
    int64_t heads;                  /* KEYS, VALUES: kv heads; THREADS: pieces; COPIES: threads; of
                                     * a tensor with three dimensions: the first; else 1 */
    int64_t rows, width, stride;    /* of each head; stride in elements; KEYS, VALUES: rows is the
                                     * padded capacity */
    int kv_dtype;                   /* KEYS, VALUES: KV_DTYPES_*; the other layouts contain f32 or
                                     * integers: KV_DTYPES_F32 */
    size_t bytes, offset;           /* offset: of layer 0, in scratch, slot or taps */
    size_t layer_stride;  int layers;               /* SLOT and TAP: one per layer */
    struct PlanBlock *block;        /* NULL: it outlives its block */
    int first_phase, last_phase;    /* in its block: it is in use from one to the other */
    struct Buffer *parent;  int64_t column;         /* a view: columns of `parent` from `column`
                                                     * on; else NULL, 0 */
} Buffer;

/* ---- operations ----------------------------------------------------------------------------------------- */

/* How threads divide an operation. COLUMNS: groups of sixteen; for linears these are panels.
 * EACH_THREAD: each thread computes all of it, into its copy of the result. */
typedef enum Split { SPLIT_ROWS, SPLIT_COLUMNS, SPLIT_HEADS, SPLIT_FIRST_THREAD, SPLIT_EACH_THREAD } Split;

enum { MOST_JOINED = 4 };           /* linears in one operation */

typedef struct PlanOp {
    const Node *node;
    const Tensor *result;           /* the node's result, that of a node fused into it, or all
                                     * columns of joined linears; of a store: the cache's tensor */
    Kernel kernel;                  /* what emitted C calls; the generic engine has its own
                                     * functions */
    Buffer *in[NODE_INPUTS], *out[3];       /* NULL if omitted or not wanted */
    Buffer *scratch;                /* attention: one piece per thread; linears that round
                                     * their rows: RoundedSize */
    Packed *weights;                /* NULL if there are none */
    Packed *joined[MOST_JOINED];  int joined_count; /* linears computed as one: their weights,
                                                     * `weights` first, contiguous when packed */
    Packed *params[NODE_INPUTS];    /* CUSTOM: the inputs that are params */
    int activation;                 /* RT_*: of an activation or a gate, or fused into a linear */
    Split split;  int parts;        /* parts to divide among threads; ROWS: the most rows */
    bool barrier;                   /* a barrier is needed before it */
    bool barrier_few;               /* one is needed only in calls of at most Plan's few_rows rows */
    int phase;                      /* number of barriers before it in its block */
    double flops;                   /* per row; for attention per row and key */
} PlanOp;

typedef struct PlanBlock {
    const Block *block;
    int64_t rows;                   /* bound; of an xf.graph, MANY_ROWS of plan_lower.c */
    Count count;
    PlanOp *ops;  int op_count;
    Buffer **buffers;  int buffer_count;            /* used only by this block */
    Buffer **views;  int view_count;                /* views of those */
    Buffer *carry_in, *carry_out;
    int phases;
    size_t weights_offset, weights_stride;          /* of layer 0; from layer to layer */
} PlanBlock;

typedef struct PlanRun { PlanBlock *block; int first, count; } PlanRun;
typedef struct PlanProgram { const Program *program; PlanRun *runs; int count; } PlanProgram;

/* A tensor kept for inspection: that of layer `layer` of its stack, which is layer layer_index of
 * the block. */
typedef struct Tap { const char *name; const Tensor *tensor; Buffer *buffer; int layer, layer_index; } Tap;

/* A list that calls use as work space: `count` elements of `size` bytes each, of the C type in
 * `words`. */
typedef struct CallList { const char *name, *words; int64_t count; size_t size, offset; } CallList;
enum { CALL_LISTS = 3 };
static inline size_t plan_list_bytes(const CallList *l) { return (size_t)l->count * l->size; }

typedef struct Cost { double flops, weight_bytes; } Cost;

typedef struct Plan {
    const Graph *graph;
    PlanOptions options;
    PlanBlock **blocks;  int block_count;
    PlanProgram *programs;  int program_count;
    Buffer **buffers;  int buffer_count;            /* outliving a block: inputs, outputs, caches,
                                                     * taps, values passed between blocks */
    Packed **packed;  int packed_count;             /* in order of execution */
    Format *formats;                /* [tensor id] of params: plan_weight_format, for any target */
    Tap *taps;  int tap_count;
    CallList lists[CALL_LISTS];  int list_count;    /* in the scratch; offsets from its start */
    size_t header_bytes, slot_bytes, scratch_bytes, tap_bytes, state_bytes;
    size_t slots_offset, scratch_offset, taps_offset;
    size_t blocks_offset;           /* from the start of the state: where, in the scratch, the
                                     * blocks' own buffers begin; all blocks use the same space */
    size_t saturated_offset;        /* in the header: a flag per thread, set if it found a number
                                     * beyond the range of f16 among keys or values; 0: no flags */
    int back;                       /* how far a sequence may be rolled back, limited by ring
                                     * buffers or as if by them; 0: to any position */
    size_t weights_bytes;           /* of the packed data, without the file's header */
    int few_rows;                   /* calls of up to that many decoder rows divide a linear by
                                     * panels instead of rows; 0: never */
    bool one_stream;                /* the weights that a decoder reads for one row do not fit into
                                     * the caches: RtLinear's one_stream */
    /* NULL if that side has no character tokenizer */
    Packed *source_characters, *source_texts, *target_characters, *target_texts;
    Packed *tokenizer;              /* the blob of rt_tokenizer_format.h; NULL without it */
} Plan;

/* The most rows of a decoder call: those that fit into all slots, but no more than matrix kernels
 * can benefit from. */
int64_t plan_decoder_rows(const Model *m, int slots);
/* Check that the sizes of state and weights are sensible, in floating point; false after an error
 * reported at the model. Call it before plan_make. */
bool  plan_fits(Diag *d, const Graph *g, PlanOptions options);
/* Check that each dtype pattern matches a matrix, and that no two patterns conflict; false after
 * errors reported at the patterns. Call it before plan_make. */
bool  plan_dtypes_hold(Diag *d, const Graph *g);
/* True if the machine certainly has enough memory, by the bounds of plan_fits, or if its memory is
 * unknown; then plan_fits_machine is not needed. */
bool  plan_is_small(const Graph *g, PlanOptions options);
/* Check that this machine has the memory to run a plan, or to pack it; packing holds only slices of
 * the weights. False after an error, EXIT_NO_FEATURE, with notes on how much memory other options
 * would take. */
typedef enum PlanWork { WORK_RUN, WORK_PACK } PlanWork;
bool  plan_fits_machine(Diag *d, const Plan *p, PlanWork work);
/* Bytes of f32 weights that the generic engine holds at once: all; or, if all would take more than
 * half of the memory, those of the largest layer. *anew: whether weights are read again whenever
 * they are needed. */
double plan_generic_bytes(const Graph *g, bool *anew);
/* Scratch of a linear that rounds its rows: one piece per thread, or one piece that threads divide
 * by rows. Each piece has `rows` rows of `stride` floats. */
typedef struct RoundedSize { int64_t pieces, rows, stride; } RoundedSize;
RoundedSize plan_rounded_size(const Plan *p, const PlanBlock *b, const PlanOp *op);
/* The most decoder rows for which threads divide a linear by panels. */
enum { PLAN_FEW_ROWS = 16 };

/* Run the passes from plan_lower to plan_check, in order. */
Plan *plan_make(Arena *a, const Graph *g, PlanOptions options);

/* Lower blocks to operations: fuse, choose kernels and layouts, work in place where that is safe.
 * needs: graph.   gives: blocks, programs, buffers without offsets, packed without shapes and
 * offsets, taps, formats, plan->back. */
void plan_lower(Arena *a, Plan *p);
/* needs: operations.   gives: op->barrier, op->barrier_few, op->phase, op->parts of SPLIT_ROWS,
 * phases of buffers and blocks. */
void plan_split(Plan *p);
/* needs: packed, programs.   gives: shapes, sizes, offsets and strides of packed, weights_offset
 * and weights_stride of blocks, plan->weights_bytes, plan->one_stream, plan->few_rows. */
void plan_weights(Plan *p);
/* needs: programs, packed.   gives: lists without offsets. */
void plan_lists(Plan *p);
/* needs: phases, lists, plan->back.   gives: buffer->offset, list->offset, the sizes and offsets of
 * the state and its parts. */
void plan_memory(Arena *a, Plan *p);
/* die() if buffers in use at the same time overlap, buffers, lists or weights are misaligned or out
 * of bounds, weights of joined linears are not contiguous, or the scratch of an operation is too
 * small. */
void plan_check(const Plan *p);
/* PLAN_KERNELS: print operations with their kernels. PLAN_MEMORY: print buffers, lists
 * and weights. */
enum { PLAN_KERNELS = 1, PLAN_MEMORY = 2 };
void plan_dump(const Plan *p, unsigned parts, FILE *to);

/* FLOPs of `program`, and bytes of weights it reads, for `rows` rows that see `keys` keys each, and
 * `memory_keys` of a source. */
Cost plan_cost(const Plan *p, ProgramKind program, int64_t rows, int64_t keys, int64_t memory_keys);
/* The cost of running one operation once. */
Cost plan_op_cost(const PlanOp *op, int64_t rows, int64_t keys, int64_t memory_keys);
const PlanProgram *plan_program(const Plan *p, ProgramKind kind);       /* NULL if absent */
int plan_rows(const Plan *p);       /* maximum number of rows of a decoder call; 1 without PROGRAM_DECODE */
/* The part of a program that a call executes: the first `runs` of its runs, but in the last layer
 * of the last of them only the first `last_ops` operations. PROGRAM_PREFILL is PROGRAM_DECODE up to
 * the last operation that stores keys or values of the last layer, since nothing reads later
 * results; if the plan has taps, up to the end of that layer. Any other program is executed whole.
 * program is NULL if the plan has none. */
typedef struct PlanPart { const PlanProgram *program; int runs, last_ops; } PlanPart;
PlanPart plan_part(const Plan *p, ProgramKind kind);
/* How many layers of run `run` execute its operation `op`. */
int plan_part_layers(const PlanPart *part, int run, int op);
/* The work of a call that executes a program from run number `from` on: its barriers, and the ns
 * that one thread of a fast processor takes for the first row and for each further row.
 * one_barriers: of a PROGRAM_DECODE call of one row, which runs PROGRAM_STEP; for other programs
 * equal to `barriers`. That of PROGRAM_DECODE is no less than one_barriers, because threads that
 * divide two or three rows save less than half of the time. Zeros if the plan lacks the program. */
typedef struct TeamWork { int barriers, one_barriers; double first_ns, each_ns; } TeamWork;
TeamWork plan_team_work(const Plan *p, ProgramKind kind, int from);
/* The offset of a buffer in a state, in bytes, for slot 0 and layer index 0. */
size_t plan_address(const Plan *p, const Buffer *b);
/* plan_hidden: the hidden states that `encode` leaves in an encoder-only model, after the final
 * norm or, without one, the last layer; NULL without an encoder. plan_vector: the output of the
 * head; NULL without one. */
const Buffer *plan_hidden(const Plan *p);
const Buffer *plan_vector(const Plan *p);
enum { PLAN_CHARACTER_BYTES = 4, PLAN_TOKEN_BYTES = 8192 };     /* maximum number of bytes of one id as text */
/* The offset of the lists in the scratch, in bytes. */
size_t plan_lists_offset(const Plan *p);
const CallList *plan_list(const Plan *p, const char *name);             /* NULL if absent */
/* The buffer of that name among those that outlive their block; NULL if absent. */
Buffer *plan_buffer(const Plan *p, const char *name);

/* The format of a param of the model: as the dtype says for matrices that only linears and
 * embeddings read, unless their rows are too long for it; f32 panels for all others. */
Format plan_weight_format(const Graph *g, const Tensor *t);

static inline bool kernel_is_store(Kernel k) { return k == KERNEL_STORE_K || k == KERNEL_STORE_V || k == KERNEL_RING_K || k == KERNEL_RING_V; }
static inline bool kernel_is_linear(Kernel k) { return k == KERNEL_LINEAR || k == KERNEL_LINEAR_GATE || k == KERNEL_LINEAR_ADD; }
static inline bool kernel_is_attention(Kernel k) { return k == KERNEL_ATTENTION || k == KERNEL_WINDOW; }
/* The row of ops.def for the element-wise operation that a kernel computes, or NULL. */
const OpRow *kernel_element(Kernel kernel);

/* True if one thread computes all of an operation: the first, or each for itself. */
static inline bool split_is_whole(Split s) { return s == SPLIT_FIRST_THREAD || s == SPLIT_EACH_THREAD; }

/* True if each thread has a part of the buffer, which no other thread uses. */
static inline bool buffer_is_per_thread(const Buffer *b) { return b->layout == LAYOUT_THREADS || b->layout == LAYOUT_COPIES; }
/* True if the buffer contains rows of f32, whether once or a copy for each thread. */
static inline bool buffer_has_rows(const Buffer *b) { return b->layout == LAYOUT_ROWS || b->layout == LAYOUT_COPIES; }
/* Bytes of an element of a buffer; int8 keys and values also have scales. */
static inline size_t buffer_element_bytes(const Buffer *b)
{
    static const size_t bytes[KV_DTYPES] = { [KV_DTYPES_F32] = sizeof(float), [KV_DTYPES_F16] = sizeof(rt_f16), [KV_DTYPES_INT8] = 1 };
    return bytes[b->kv_dtype];
}
/* Bytes of the scale of a key or value of a head, 0 if it has none. */
static inline size_t buffer_scale_bytes(const Buffer *b) { return b->kv_dtype == KV_DTYPES_INT8 ? sizeof(float) : 0; }

static inline int64_t pad16(int64_t n) { return (n + 15) / 16 * 16; }
static inline size_t pad64(size_t n) { return (n + 63) / 64 * 64; }
/* Rows of attention's scratch: the number of rows of queries or of heads that share keys and
 * values, whichever is larger; at most RT_ATTENTION_ROWS. */
static inline int64_t plan_score_rows(const Node *n)
{
    const int64_t queries = n->in[0]->dim[0].bound, share = n->heads / n->kv_heads, most = queries > share ? queries : share;
    return most < RT_ATTENTION_ROWS ? most : RT_ATTENTION_ROWS;
}
/* Floats from one row of attention's scratch to the next: the scores for all keys and, for int8
 * keys, the rotated query. See RtAttention. */
static inline int64_t plan_score_stride(const Buffer *keys)
{
    return keys->rows + 16 + (keys->kv_dtype == KV_DTYPES_INT8 ? pad16(keys->width) : 0);
}

#endif
