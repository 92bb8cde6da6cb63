/* graph_make.h: functions with which graph_model.c and graph_spec.c build a Graph. */
#ifndef GRAPH_MAKE_H
#define GRAPH_MAKE_H

#include "graph.h"

typedef struct Maker {
    Arena *arena;
    Diag *diag;
    Graph *graph;
    Block *block;                   /* the current block, to which nodes are added */
    const char *prefix;             /* of result names; "rows." in programs for many rows */
    const char *part;               /* Node.part of the next nodes */
    NameMap *shared;                /* params and states made so far, by kind, layers and name */
    bool failed;                    /* an error was reported; make_node then returns NULL */
} Maker;

static inline Dim dim_constant(int64_t n) { return (Dim){ n, COUNT_CONSTANT }; }

Program *make_program(Maker *k, ProgramKind kind, const char *doc, Count rows);
/* Begin a block; `layers` and `layer` as in Block. */
Block *make_block(Maker *k, const char *name, const char *doc, const char *stem, int layers, int *layer);
void   make_run(Maker *k, Program *p, Block *b, int first, int count);

Tensor *make_tensor(Maker *k, TensorKind kind, const char *name, int layers, int rank, const Dim *dim);
Tensor *make_input(Maker *k, const char *name, bool integer, int rank, const Dim *dim);
/* Params and states with the same name and layers are made once, and shared by programs. */
/* A param of the current block, STEM.suffix, with one source per layer, looked up by name. */
Tensor *make_param(Maker *k, const char *suffix);
/* A param without layers, by its canonical name. */
Tensor *make_global_param(Maker *k, const char *name);
Tensor *make_state(Maker *k, const char *suffix, int64_t capacity, Count count, int64_t width);

/* Add a node and set the shapes of its results; the first is named by make_result_name. Returns the
 * node, or NULL after an error. */
Node *make_node(Maker *k, OpKind op, const char *suffix, Tensor *a, Tensor *b, Tensor *c, Tensor *e);
/* Like make_node, with the attributes of the node, on which its shapes may depend. */
Node *make_node_from(Maker *k, const Node *attributes, const char *suffix, Tensor *const in[NODE_INPUTS]);
/* The name of a node's result: STEM.suffix, with the prefix. */
const char *make_result_name(Maker *k, const char *suffix);

#endif
