/* graph_build.c: from a Model to its Graph. */
#include "graph_build.h"

Graph *graph_build(Arena *a, Diag *d, const Model *m)
{
    Graph *g = arena_alloc(a, sizeof *g);
    g->model = m;
    Maker k = { .arena = a, .diag = d, .graph = g };
    bool built = false;
    switch (m->model_kind) {
    case KIND_ENCODER_DECODER: built = graph_encoder_decoder(&k, m); break;
    case KIND_GRAPH:           built = graph_from_spec(&k, m->graph); break;
    }
    if (!built) return NULL;
    graph_check(g);
    return g;
}
