/* graph_check.c: assert what the floors below rely on. A failure here is a bug of ours, not of the spec. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static void check_node(const Node *n, const bool *made, const char *block)
{
    const OpRow *row = &op_rows[n->op];
    for (int i = 0; i < 5; i++) {
        const Tensor *t = n->in[i];
        if (!t) continue;
        if (i >= row->inputs) die("%s: %s has too many inputs", block, row->name);
        if (t->kind == TENSOR_TEMP && !made[t->id]) die("%s: %s uses %s before it is made", block, row->name, t->name);
        if (t->rank < 1) die("%s: %s has no shape", block, t->name);
    }
    for (int r = 0; r < row->results; r++)
        if (!n->out[r] || !n->out[r]->name || n->out[r]->rank < 1) die("%s: result %d of %s is unfinished", block, r, row->name);
}

static void check_block(const Graph *g, const Block *b)
{
    bool *made = calloc((size_t)g->tensor_count + 1, sizeof *made);
    if (!made) die("no memory");
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
    const Tensor *carried = NULL;
    for (int i = 0; i < p->count; i++) {
        const Run *r = &p->runs[i];
        if (r->first < 0 || r->count < 1 || r->first + r->count > (r->block->layers ? r->block->layers : 1))
            die("%s: run %d of %s is outside its layers", p->name, i, r->block->name);
        if (r->block->carry_in && !carried) die("%s: nothing is passed to %s", p->name, r->block->name);
        if (r->block->carry_in && r->block->carry_in->dim[1].bound != carried->dim[1].bound)
            die("%s: %s is passed %s of another width", p->name, r->block->name, carried->name);
        carried = r->block->carry_out;
    }
}

static bool is_of_layers(const Tensor *t) { return strstr(t->name, "{}") != NULL; }

static void check_apart(const Tensor *a, const Tensor *b)
{
    if (a != b && strcmp(a->name, b->name) == 0) die("two tensors are called %s", a->name);
}

static void check_results(const Block *b, const Tensor *t)
{
    for (int i = 0; i < b->count; i++)
        for (int r = 0; r < op_rows[b->nodes[i]->op].results; r++) check_apart(t, b->nodes[i]->out[r]);
}

/* Where layers differ, blocks of one stack give the same name to different layers: unique in a block is enough then. */
static void check_names(const Graph *g)
{
    for (int i = 0; i < g->tensor_count; i++)
        for (int j = 0; j < i; j++)
            if (g->tensors[i]->name && g->tensors[j]->name && !is_of_layers(g->tensors[i])) check_apart(g->tensors[i], g->tensors[j]);
    for (int i = 0; i < g->block_count; i++) {
        const Block *b = g->blocks[i];
        for (int j = 0; j < b->count; j++) {
            for (int k = 0; k < 5; k++)
                if (b->nodes[j]->in[k]) check_results(b, b->nodes[j]->in[k]);
            for (int r = 0; r < op_rows[b->nodes[j]->op].results; r++) check_results(b, b->nodes[j]->out[r]);
        }
    }
}

void graph_check(const Graph *g)
{
    for (int i = 0; i < g->block_count; i++) check_block(g, g->blocks[i]);
    for (int i = 0; i < g->program_count; i++) check_program(&g->programs[i]);
    check_names(g);
}
