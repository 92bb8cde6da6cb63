/* graph_make.h: the tools that graph_model.c and graph_spec.c build a Graph with. */
#ifndef GRAPH_MAKE_H
#define GRAPH_MAKE_H

#include "graph.h"

typedef struct Maker {
    Arena *arena;
    Diag *diag;
    Graph *graph;
    Block *block;                   /* nodes are added to this one */
    const char *prefix;             /* of the names of results: "" or "rows." for a program of many rows */
    const char *part;               /* of the nodes to come: Node.part */
    NameMap *shared;                /* params and states made so far, by kind, layers and name */
    bool failed;                    /* a shape error was reported; results are NULL from then on */
} Maker;

static inline Dim dim_constant(int64_t n) { return (Dim){ n, COUNT_CONSTANT }; }

Program *make_program(Maker *k, ProgramKind kind, const char *doc, Count rows);
/* Begin a block; `layers` and `layer` as in Block. */
Block *make_block(Maker *k, const char *name, const char *doc, const char *stem, int layers, int *layer);
void   make_run(Maker *k, Program *p, Block *b, int first, int count);

Tensor *make_tensor(Maker *k, TensorKind kind, const char *name, int layers, int rank, const Dim *dim);
Tensor *make_input(Maker *k, const char *name, bool integer, int rank, const Dim *dim);
/* Tensors of the same name and layers are made once: programs share params and states. */
/* A param of the current block: STEM.suffix for every layer of the block; the sources are looked up by name. */
Tensor *make_param(Maker *k, const char *suffix);
/* A param that belongs to no layer, by its canonical name. */
Tensor *make_global_param(Maker *k, const char *name);
Tensor *make_state(Maker *k, const char *suffix, int64_t capacity, Count count, int64_t width);

/* Add a node; its results get their shapes, and the first one the name STEM.suffix. Returns the node, or NULL
 * after a shape error. */
Node *make_node(Maker *k, OpKind op, const char *suffix, Tensor *a, Tensor *b, Tensor *c, Tensor *e);
/* As make_node, with scalar attributes set before the shapes are worked out. */
Node *make_node_from(Maker *k, const Node *attributes, const char *suffix, Tensor *const in[NODE_INPUTS]);
/* STEM.suffix, with the prefix: the name of a node's result. */
const char *make_result_name(Maker *k, const char *suffix);

#endif
