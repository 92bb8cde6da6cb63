/* graph.h: what a model computes: pure operations over named tensors.
 *
 * A Graph is a set of programs over shared state. A program is a list of runs of blocks; a block is a list of
 * nodes in order of execution, and its tensors are indexed by the layer it runs for. One value passes from run to
 * run: a block takes it as `carry_in` and leaves it as `carry_out`. Nothing here knows of kernels, offsets or
 * layouts. Everything lives in the session's arena. */
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
    bool element;                   /* an ELEMENT_OP, whose doc is its value */
} OpRow;
extern const OpRow op_rows[OP_KINDS];

/* How many of a dimension's places are used is known when compiling, or one of these at run time. */
typedef enum Count { COUNT_CONSTANT, COUNT_SOURCE, COUNT_ROWS, COUNT_TARGET } Count;
typedef struct Dim { int64_t bound; Count count; } Dim;
const char *count_name(Count c);    /* "", "source", "rows", "target" */

typedef enum TensorKind { TENSOR_INPUT, TENSOR_PARAM, TENSOR_STATE, TENSOR_TEMP } TensorKind;

enum { FILL_INDEX = -1, FILL_COUNT = -2,    /* place i holds i, or i + 1 */
       FILL_POSITION = -3, FILL_SEEN = -4 };    /* the same, counted from the first row of a sequence that caches hold */

/* What an attention asks of the numbers that it reads beside queries, keys and values. */
typedef enum Holds {
    HOLDS_ANY,
    HOLDS_MASK,                     /* 0 and 1 */
    HOLDS_BIAS                      /* numbers and -inf */
} Holds;

typedef struct Tensor {
    const char *name;               /* `{}` stands for the layer, as in encoder.{}.self_attn.q */
    TensorKind kind;
    bool integer;                   /* int32 instead of f32 */
    int rank;
    Dim dim[MAX_RANK];
    int layers, first_layer;        /* of a param or state: how many there are, from which on; 0: one, not indexed */
    const TensorSource **source;    /* of a param: [max(layers, 1)] */
    const float *values;            /* of an input: numbers that the spec gives, or NULL */
    int fill;                       /* of an integer input without a caller: what stands in every place, or FILL_* */
    int id;                         /* unique in its Graph, in order of making */
    bool output;                    /* asked for by name: kept to the end of the program */
    Holds holds;                    /* other than HOLDS_ANY: kept too, for it is checked there */
    const struct Tensor *alias_of;      /* lies where that one does: a result that two programs give; or NULL */
} Tensor;

enum { NODE_INPUTS = 9 };

typedef struct Node {
    OpKind op;
    Tensor *in[NODE_INPUTS], *out[3];       /* NULL where left out */
    int heads, kv_heads;            /* attention; APPEND: kv_heads; norm, rotary: heads */
    int dims;                       /* rotary: how much of a head turns */
    bool interleaved;               /* rotary: pairs (2i, 2i + 1) */
    const FieldList *parts;             /* pool: POOLINGS_* */
    int64_t window;                 /* attention, APPEND: 0, or how many of the visible keys a row sees, the last ones */
    int64_t ring;                   /* APPEND: 0, or how many positions must be kept at once */
    bool values;                    /* APPEND: this cache holds values, not keys */
    double scale, eps, softcap;     /* embed, attention, scale; norm; attention, scale */
    int kind;                       /* norm: NORMS_*; activation, gate: RT_* of activations.def */
    const CustomOp *custom;         /* CUSTOM: whose C it is */
    double attributes[MAX_ATTRIBUTES];      /* its numbers, in order */
    int64_t shape[2];               /* CUSTOM: of the result */
    const char *part;               /* "self-attention": what part of its block it belongs to; NULL: none */
    Loc at;
} Node;

typedef struct Block {
    const char *name;               /* "encoder_layer" */
    const char *doc;                /* one line: what a reader should know */
    const char *stem;               /* names of its tensors begin so, with the layer where {} stands */
    int layers;                     /* how many layers use it; 0: it is not a layer */
    int *layer;                     /* [layers]: number in its stack */
    Node **nodes;  int count;
    Tensor *carry_in, *carry_out;   /* NULL where nothing passes */
} Block;

typedef struct Run { Block *block; int first, count; } Run;     /* block layers first .. first + count - 1 */

/* The programs of a Transformer, and that of an xf.graph. PROGRAM_PREFILL is not a program of a Graph: it
 * is PROGRAM_DECODE up to where the last layer stores its keys and values, without logits. */
typedef enum ProgramKind {
    PROGRAM_ENCODE, PROGRAM_STEP, PROGRAM_NEXT, PROGRAM_DECODE, PROGRAM_DECODE_GREEDY, PROGRAM_RUN,
    PROGRAM_PREFILL
} ProgramKind;
const char *program_name(ProgramKind kind);     /* "encode", "decode_greedy" */

typedef struct Program {
    ProgramKind kind;
    const char *doc;
    Count rows;                     /* COUNT_SOURCE: all of a source; COUNT_ROWS: decoder rows */
    Run *runs;  int count;
} Program;

typedef struct Graph {
    const Model *model;
    Program *programs;  int program_count;
    Block **blocks;  int block_count;           /* in order of first use */
    Tensor **tensors;  int tensor_count;        /* by id */
    int64_t step_rows, capacity;    /* of an xf.graph with caches: rows that a run adds to its sequence, most that it has; else 0 */
} Graph;

/* The Graph of a model, whose decoder takes up to `rows` rows in one call; NULL after errors (an xf.graph whose shapes do not fit). */
Graph *graph_build(Arena *a, Diag *d, const Model *m, int64_t rows);
/* Give every result of `n` its shape. False after an error reported at n->at: which input, what was expected. */
bool   graph_shape(Diag *d, Node *n);
/* Assert what every later floor relies on: inputs made before use, shapes by the rules, names unique. die() if not. */
void   graph_check(const Graph *g);
void   graph_dump(const Graph *g, FILE *to);
/* Where the first of n numbers is that a tensor may not hold; n: nowhere. */
int64_t graph_first_fault(Holds holds, const float *values, int64_t n);
/* What is wrong with the numbers of a tensor, row-major: which, where, what it may hold; NULL: none
 * is. */
const char *graph_value_fault(Arena *a, const Tensor *t, const float *values);
/* The name of a tensor for layer `layer` of its block: {} replaced. */
const char *tensor_layer_name(Arena *a, const Tensor *t, int layer);
/* Names and result counts of the operations an xf.graph may call. */
const OpName *graph_builder_ops(int *n);
/* A GraphShape: works through the calls that were added since it was last asked. */
int graph_value_shape(Arena *a, GraphSpec *spec, int value, int64_t shape[MAX_RANK]);
/* Whether the C of an xf.op is in it. */
bool graph_has_custom(const Graph *g);

#endif
