/* graph_check.c: assert what later stages rely on. A failure is a bug in xformc, not a fault in the
 * spec. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static void check_node(const Node *n, const bool *made, const char *block)
{
    const OpRow *row = &op_rows[n->op];
    for (int i = 0; i < NODE_INPUTS; i++) {
        const Tensor *t = n->in[i];
        if (!t) continue;
        if (i >= row->inputs) die("%s: %s has too many inputs", block, row->name);
        if (t->kind == TENSOR_TEMP && !made[t->id] && !t->output) die("%s: %s uses %s before it is made", block, row->name, t->name);
        if (t->rank < 1) die("%s: %s has no shape", block, t->name);
    }
    for (int r = 0; r < row->results; r++)
        if (!n->out[r] || !n->out[r]->name || n->out[r]->rank < 1) die("%s: result %d of %s is unfinished", block, r, row->name);
}

static void check_block(const Graph *g, const Block *b)
{
    bool *made = calloc((size_t)g->tensor_count + 1, sizeof *made);
    if (!made) no_memory("%d flags", g->tensor_count + 1);
    if (b->carry_in) made[b->carry_in->id] = true;
    for (int i = 0; i < b->count; i++) {
        check_node(b->nodes[i], made, b->name);
        for (int r = 0; r < op_rows[b->nodes[i]->op].results; r++) made[b->nodes[i]->out[r]->id] = true;
    }
    if (b->carry_out && !made[b->carry_out->id]) die("%s: %s is never made", b->name, b->carry_out->name);
    free(made);
}

static void check_program(const Program *p)
{
    const char *name = program_name(p->kind);
    const Tensor *carried = NULL;
    for (int i = 0; i < p->count; i++) {
        const Run *r = &p->runs[i];
        if (r->first < 0 || r->count < 1 || r->first + r->count > (r->block->layers ? r->block->layers : 1))
            die("%s: run %d of %s is outside its layers", name, i, r->block->name);
        if (r->block->carry_in && !carried)
            die("%s: nothing is passed to %s", name, r->block->name);
        if (r->block->carry_in && r->block->carry_in->dim[1].bound != carried->dim[1].bound)
            die("%s: %s is passed %s of another width", name, r->block->name, carried->name);
        carried = r->block->carry_out;
    }
}

static bool is_of_layers(const Tensor *t) { return strstr(t->name, "{}") != NULL; }

/* die() if another tensor in the map has the same name. */
static void check_apart(const NameMap *names, const Tensor *t)
{
    const Tensor *other = name_map_find(names, t->name);
    if (other && other != t) die("two tensors are called %s", t->name);
}

static void add_apart(NameMap *names, Tensor *t)
{
    check_apart(names, t);
    name_map_add(names, t->name, t);
}

static void check_names_of_block(Arena *a, const Block *b)
{
    NameMap *results = name_map_new(a);
    for (int i = 0; i < b->count; i++)
        for (int r = 0; r < op_rows[b->nodes[i]->op].results; r++) add_apart(results, b->nodes[i]->out[r]);
    for (int i = 0; i < b->count; i++)
        for (int j = 0; j < NODE_INPUTS; j++)
            if (b->nodes[i]->in[j]) check_apart(results, b->nodes[i]->in[j]);
}

/* Names with {} need to be unique only within a block: if layers differ, the blocks of a stack use
 * the same names for different layers. */
static void check_names(const Graph *g)
{
    Arena *a = arena_new();
    NameMap *names = name_map_new(a);
    for (int i = 0; i < g->tensor_count; i++)
        if (g->tensors[i]->name && !is_of_layers(g->tensors[i])) add_apart(names, g->tensors[i]);
    for (int i = 0; i < g->block_count; i++) check_names_of_block(a, g->blocks[i]);
    arena_free(a);
}

void graph_check(const Graph *g)
{
    for (int i = 0; i < g->block_count; i++) check_block(g, g->blocks[i]);
    for (int i = 0; i < g->program_count; i++) check_program(&g->programs[i]);
    check_names(g);
}
