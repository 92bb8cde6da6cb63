/* graph.h: the computation of a model as pure operations on named tensors.
 *
 * A Graph is a set of programs over shared state. A program is a list of runs of blocks. A block is
 * a list of nodes in order of execution. A block of layers runs once per layer, and tensors with {}
 * in their names are indexed by the layer. One value passes from run to run: a block takes it as
 * `carry_in` and leaves it as `carry_out`. A Graph has no kernels, offsets or layouts. Everything
 * lives in the arena given to graph_build. */
#ifndef GRAPH_H
#define GRAPH_H

#include "model.h"

typedef enum OpKind {
#define OP(id, name, inputs, results, in_place, signature, doc) OP_##id,
#include "ops.def"
#undef OP
    OP_KINDS
} OpKind;

typedef struct OpRow {
    const char *name;
    int inputs, results, in_place;
    const char *signature, *doc;
    bool element;                   /* an ELEMENT_OP; doc is the C of its value */
} OpRow;
extern const OpRow op_rows[OP_KINDS];

/* The size in use of a dimension: constant, or one of these counts at run time, at most `bound`. */
typedef enum Count { COUNT_CONSTANT, COUNT_SOURCE, COUNT_ROWS, COUNT_TARGET } Count;
typedef struct Dim { int64_t bound; Count count; } Dim;
const char *count_name(Count c);    /* "", "source", "rows", "target" */

typedef enum TensorKind { TENSOR_INPUT, TENSOR_PARAM, TENSOR_STATE, TENSOR_TEMP } TensorKind;

enum { FILL_INDEX = -1, FILL_COUNT = -2,    /* element i is i, or i + 1 */
       FILL_POSITION = -3, FILL_SEEN = -4 };    /* the same, plus the rows in the caches so far */

/* The numbers that attention allows in its mask and in the tensor added to its scores. */
typedef enum Holds {
    HOLDS_ANY,
    HOLDS_MASK,                     /* 0 and 1 */
    HOLDS_BIAS                      /* finite numbers and -inf */
} Holds;

typedef struct Tensor {
    const char *name;               /* `{}` is the layer, as in encoder.{}.self_attn.q */
    TensorKind kind;
    bool integer;                   /* int32 instead of f32 */
    int rank;
    Dim dim[MAX_RANK];
    int layers;                     /* how many it has; 0: it is one tensor, not indexed */
    int first_layer;                /* of a param or state: the first layer's number in the stack */
    const TensorSource **source;    /* of a param: [max(layers, 1)] */
    const float *values;            /* of an input: numbers from the spec, or NULL */
    int fill;                       /* of an integer input that no caller sets: the value of all
                                     * elements, or FILL_* */
    int id;                         /* unique in its Graph, in order of creation */
    bool output;                    /* a result of a program: kept to the program's end */
    Holds holds;                    /* other than HOLDS_ANY: an input is checked before the program
                                     * runs; a result is kept to the program's end and checked
                                     * there */
    const struct Tensor *alias_of;      /* shares the buffer of that tensor: the same result of
                                         * another program, or the scaled logits; or NULL */
} Tensor;

enum { NODE_INPUTS = 9 };

typedef struct Node {
    OpKind op;
    const char *word;               /* the call in an xf.graph, such as "matmul"; or NULL */
    Tensor *in[NODE_INPUTS], *out[3];       /* NULL if omitted */
    int heads, kv_heads;            /* attention; APPEND: kv_heads; norm, rotary: heads */
    int dims;                       /* rotary: dimensions of a head that rotate */
    bool interleaved;               /* rotary: pairs (2i, 2i + 1) */
    const FieldList *parts;             /* pool: POOLINGS_* */
    int64_t window;                 /* attention, APPEND: the size of a sliding window. A row sees
                                     * at most that many keys up to its own and, if in[5] is given,
                                     * as many from its own on. 0: all visible keys */
    int64_t ring;                   /* APPEND: positions that the cache must keep at once; 0: all */
    bool values;                    /* APPEND: this cache holds values, not keys */
    double scale, eps, softcap;     /* scale: embed, attention, scale; eps: norm; softcap:
                                     * attention, scale */
    int kind;                       /* norm: NORMS_*; activation, gate: RT_* of activations.def */
    const CustomOp *custom;         /* CUSTOM: the xf.op */
    double attributes[MAX_ATTRIBUTES];      /* of the xf.op, in order */
    int64_t shape[2];               /* CUSTOM: of the result */
    const char *part;               /* the part of the block: "self-attention"; NULL: none */
    Loc at;
} Node;

typedef struct Block {
    const char *name;               /* "encoder_layer" */
    const char *doc;                /* one line of description */
    const char *stem;               /* prefix of the names of its tensors; {} is the layer */
    int layers;                     /* number of layers that use it; 0: it is not a layer */
    int *layer;                     /* [layers]: number in the stack */
    Node **nodes;  int count;
    Tensor *carry_in, *carry_out;   /* NULL if no value passes */
} Block;

typedef struct Run { Block *block; int first, count; } Run;     /* block layers first .. first + count - 1 */

/* The programs of a Transformer, and PROGRAM_RUN of an xf.graph. PROGRAM_PREFILL is not in a Graph:
 * it is PROGRAM_DECODE up to where the last layer stores its keys and values. */
typedef enum ProgramKind {
    PROGRAM_ENCODE, PROGRAM_STEP, PROGRAM_NEXT, PROGRAM_DECODE, PROGRAM_DECODE_GREEDY, PROGRAM_RUN,
    PROGRAM_PREFILL
} ProgramKind;
const char *program_name(ProgramKind kind);     /* "encode", "decode_greedy" */

typedef struct Program {
    ProgramKind kind;
    const char *doc;
    Count rows;                     /* COUNT_SOURCE: all of a source; COUNT_ROWS: decoder rows;
                                     * COUNT_CONSTANT: those of an xf.graph */
    Run *runs;  int count;
} Program;

typedef struct Graph {
    const Model *model;
    Program *programs;  int program_count;
    Block **blocks;  int block_count;           /* in order of first use */
    Tensor **tensors;  int tensor_count;        /* by id */
    int64_t step_rows, capacity;    /* of an xf.graph with caches: rows that a run appends to its
                                     * sequence; the most rows of a sequence; else 0 */
} Graph;

/* Build the Graph of a model; its decoder takes up to `rows` rows per call. NULL after errors, such
 * as shapes of an xf.graph that do not fit. */
Graph *graph_build(Arena *a, Diag *d, const Model *m, int64_t rows);
/* Set the shapes of all results of `n`. False after an error reported at n->at. */
bool   graph_shape(Diag *d, Node *n);
/* Check what later stages rely on: values are made before use and have shapes, runs fit together,
 * names are unique. die() if not. */
void   graph_check(const Graph *g);
void   graph_dump(const Graph *g, FILE *to);
/* The index of the first of n numbers that is not allowed; n if all are allowed. */
int64_t graph_first_fault(Holds holds, const float *values, int64_t n);
/* A message about the first number of a tensor, row-major, that is not allowed: the number, its
 * indices, what is allowed. NULL if there is none. */
const char *graph_value_fault(Arena *a, const Tensor *t, const float *values);
/* The name of a tensor with {} replaced by `layer`, the number of the layer in its stack. */
const char *tensor_layer_name(Arena *a, const Tensor *t, int layer);
/* Names and result counts of the built-in operations that an xf.graph may call. */
const OpName *graph_builder_ops(int *n);
/* The GraphShape for specs with xf.ops; it first processes the calls that were added since it was
 * last called. */
int graph_value_shape(Arena *a, GraphSpec *spec, int value, int64_t shape[MAX_RANK]);
/* True if the graph contains an xf.op. */
bool graph_has_custom(const Graph *g);

#endif
