/* graph_build.c: build the Graph of a Model. */
#include "graph_build.h"

Graph *graph_build(Arena *a, Diag *d, const Model *m, int64_t rows)
{
    Graph *g = arena_alloc(a, sizeof *g);
    g->model = m;
    Maker k = { .arena = a, .diag = d, .graph = g };
    bool built = m->graph ? graph_from_spec(&k, m->graph) : graph_transformer(&k, m, rows);
    if (!built) return NULL;
    graph_check(g);
    return g;
}
