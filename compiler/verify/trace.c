/* trace.c: run a model on given inputs and gather the tensors that its plan keeps, by their names
 * in the graph.
 *
 * The tensors of a model that takes ids are in order of execution, a layer's before the next
 * layer's, so the first that differs is the first that went wrong. The rows of a decoder come one
 * step at a time; each is copied to its place in a tensor of the final size. */
#include "trace.h"

#include <math.h>
#include <string.h>

/* One tensor being gathered. */
typedef struct Part {
    TraceTensor *out;
    const Tensor *tensor;
    const Buffer *buffer;
    const PlanBlock *block;  int layer_index;       /* its writer; NULL, 0 for an xf.graph */
} Part;

typedef struct Gather {
    Arena *arena;
    const Engine *engine;
    Trace *trace;
    Part *parts;  int room;
    float *row;                         /* room for the largest row */
    int64_t used[COUNT_TARGET + 1];     /* final length of each kind of dimension */
} Gather;

/* ---- what there is -------------------------------------------------------------------------------------- */

static int64_t length(const int64_t *used, Dim d) { return d.count == COUNT_CONSTANT ? d.bound : used[d.count]; }

/* The dimension that counts rows; scores and weights have heads before it. */
static Dim row_dim(const Tensor *t) { return t->dim[t->rank == 3]; }

static bool by_steps(const Tensor *t) { return row_dim(t).count == COUNT_ROWS; }

static void add_part(Gather *g, const char *name, const Tensor *t, const Buffer *b, const PlanBlock *block,
                     int layer_index)
{
    if (g->trace->count == g->room) die("more tensors to trace than counted");
    TraceTensor *out = &g->trace->tensors[g->trace->count];
    *out = (TraceTensor){ .name = name, .rank = t->rank, .lowest = t->holds == HOLDS_BIAS };
    size_t elements = 1;
    for (int r = 0; r < t->rank; r++) {
        out->shape[r] = length(g->used, t->dim[r]);
        elements *= (size_t)out->shape[r];
    }
    out->values = arena_array(g->arena, elements, sizeof *out->values);
    g->parts[g->trace->count++] = (Part){ out, t, b, block, layer_index };
}

/* The plan lists taps by tensor, then by layer; here the taps of a layer are grouped. */
static void add_taps(Gather *g, const Buffer *b, const PlanBlock *block, int layer_index)
{
    const Plan *p = g->engine->plan;
    for (int i = 0; b && i < p->tap_count; i++) {
        const Tap *t = &p->taps[i];
        if (t->buffer == b && t->layer_index == layer_index && !trace_find(g->trace, t->name))
            add_part(g, t->name, t->tensor, b, block, layer_index);
    }
}

static void add_block(Gather *g, const PlanBlock *b, int layer_index)
{
    for (int i = 0; i < b->op_count; i++)
        for (int r = 0; r < 3; r++) add_taps(g, b->ops[i].out[r], b, layer_index);
}

static void add_program(Gather *g, ProgramKind kind)
{
    const PlanProgram *p = plan_program(g->engine->plan, kind);
    for (int i = 0; p && i < p->count; i++)
        for (int j = 0; j < p->runs[i].count; j++) add_block(g, p->runs[i].block, p->runs[i].first + j);
}

/* Add the outputs. They are read from where a caller of `encode` or `step` reads them, not from a
 * tap of the same name. Only those of the generic engine are read from the tap, which has what it
 * computed; its output may hold the values of its guide (generic_follow). */
static void add_output(Gather *g)
{
    const Plan *plan = g->engine->plan;
    const bool decoder = plan->graph->model->has_decoder;
    const PlanProgram *p = plan_program(plan, decoder ? PROGRAM_STEP : PROGRAM_ENCODE);
    const bool panels = plan->options.target == TARGET_PANELS;
    for (int i = 0; i < p->count; i++) {    /* the last block, and hidden states before a head */
        const PlanBlock *b = p->runs[i].block;
        const Tensor *t = b->block->carry_out;
        if (i + 1 < p->count && !t->output) continue;
        const TraceTensor *tapped = trace_find(g->trace, t->name);
        if (!tapped) add_part(g, t->name, t, b->carry_out, b, 0);
        else if (panels) g->parts[tapped - g->trace->tensors].buffer = b->carry_out;
    }
}

/* ---- a model that takes ids ------------------------------------------------------------------------------ */

/* Copy row `step` of a decoder's tensor to its place. */
static void gather_row(const Gather *g, const Part *p, int64_t step)
{
    const Tensor *t = p->tensor;
    const int64_t heads = t->rank == 3 ? t->dim[0].bound : 1, rows = p->out->shape[t->rank == 3];
    const int64_t final = p->out->shape[t->rank - 1];
    int64_t used[COUNT_TARGET + 1];
    memcpy(used, g->used, sizeof used);
    used[COUNT_TARGET] = step + 1;
    const int64_t columns = length(used, t->dim[t->rank - 1]);
    engine_read(g->engine, p->buffer, p->layer_index, 1, columns, g->row);
    for (int64_t h = 0; h < heads; h++)
        memcpy(p->out->values + (h * rows + step) * final, g->row + h * columns, (size_t)columns * sizeof *g->row);
}

static void gather_step(const Gather *g, int64_t step)
{
    for (int i = 0; i < g->trace->count; i++)
        if (by_steps(g->parts[i].tensor)) gather_row(g, &g->parts[i], step);
}

/* Copy row `step` of the tensors that a layer of a block wrote. */
static void gather_layer(void *user, int step, const PlanBlock *b, int layer)
{
    const Gather *g = user;
    for (int i = 0; i < g->trace->count; i++) {
        const Part *p = &g->parts[i];
        const bool left = p->block == b && (!p->buffer->layers || p->layer_index == layer);
        if (left && by_steps(p->tensor)) gather_row(g, p, step);
    }
}

static void gather_source(const Gather *g)
{
    for (int i = 0; i < g->trace->count; i++) {
        const Part *p = &g->parts[i];
        if (by_steps(p->tensor)) continue;
        const TraceTensor *t = p->out;
        engine_read(g->engine, p->buffer, p->layer_index, t->shape[t->rank - 2], t->shape[t->rank - 1], t->values);
    }
}

/* The largest row over all tensors, with all heads, in floats. */
static size_t largest_row(const Gather *g)
{
    size_t largest = 1;
    for (int i = 0; i < g->trace->count; i++) {
        const TraceTensor *t = g->parts[i].out;
        size_t n = (size_t)(t->rank == 3 ? t->shape[0] * t->shape[2] : t->shape[t->rank - 1]);
        if (n > largest) largest = n;
    }
    return largest;
}

static Gather gather_new(Arena *a, Engine *e, int room)
{
    Trace *t = arena_alloc(a, sizeof *t);
    t->tensors = arena_array(a, (size_t)room, sizeof *t->tensors);
    return (Gather){ .arena = a, .engine = e, .trace = t, .room = room, .parts = arena_array(a, (size_t)room, sizeof(Part)) };
}

static bool walks(const Engine *e)
{
    return e->plan->options.target == TARGET_ROW_MAJOR && generic_reads_anew(e);
}

static rt_status feed(Gather *g, Engine *e, const int *source, int n, const int *target, int m)
{
    const Model *model = e->plan->graph->model;
    rt_status status = model->has_encoder ? e->ops->encode(e, 0, source, n) : e->ops->clear(e);
    g->row = arena_array(g->arena, largest_row(g), sizeof *g->row);
    if (!status && model->has_encoder) gather_source(g);
    if (status || !model->has_decoder) return status;
    if (walks(e)) return generic_walk(e, target, m, gather_layer, g);
    for (int i = 0; i < m && !status; i++) {
        status = e->ops->step(e, target[i]);
        if (!status) gather_step(g, i);
    }
    return status;
}

static Gather gather_model(Arena *a, Engine *e, int n, int m)
{
    Gather g = gather_new(a, e, e->plan->tap_count + 2);
    g.used[COUNT_SOURCE] = n > 0 ? n : 0;
    g.used[COUNT_ROWS] = g.used[COUNT_TARGET] = m > 0 ? m : 0;
    add_program(&g, PROGRAM_ENCODE);
    add_program(&g, PROGRAM_STEP);
    add_output(&g);
    return g;
}

Trace *trace_run(Arena *a, Engine *e, const int *source, int n, const int *target, int m)
{
    Gather g = gather_model(a, e, n, m);
    g.trace->status = feed(&g, e, source, n, target, m);
    return g.trace;
}

/* ---- an xf.graph ---------------------------------------------------------------------------------------- */

static const Tensor *tensor_named(const Graph *g, const char *name)
{
    for (int i = 0; i < g->tensor_count; i++)
        if (g->tensors[i]->name && strcmp(g->tensors[i]->name, name) == 0) return g->tensors[i];
    return NULL;
}

static const Buffer *input_buffer(const Plan *p, const Tensor *t)
{
    for (int i = 0; i < p->buffer_count; i++)
        if (p->buffers[i]->tensor == t) return p->buffers[i];
    return NULL;
}

/* The buffer that keeps a tensor until the end of a run: its tap, or that of an output, a mask or a
 * bias. */
static const Buffer *kept_buffer(const Plan *p, const Tensor *t)
{
    for (int i = 0; i < p->tap_count; i++)
        if (p->taps[i].tensor == t) return p->taps[i].buffer;
    for (int i = 0; i < p->buffer_count; i++)
        if (p->buffers[i]->tensor == t && p->buffers[i]->layout == LAYOUT_ROWS) return p->buffers[i];
    return NULL;
}

/* Add a named tensor if the plan keeps it until the end: inputs, outputs, masks, biases and
 * taps. */
static void add_named(Gather *g, const char *name)
{
    const Plan *p = g->engine->plan;
    const Tensor *t = tensor_named(p->graph, name);
    if (!t || t->kind == TENSOR_PARAM || t->integer || trace_find(g->trace, name)) return;
    const Buffer *b = t->kind == TENSOR_INPUT ? input_buffer(p, t) : kept_buffer(p, t);
    if (b && !b->block) add_part(g, name, t, b, NULL, 0);
}

static Gather gather_graph(Arena *a, Engine *e)
{
    const GraphSpec *spec = e->plan->graph->model->graph;
    Gather g = gather_new(a, e, spec->count);
    for (int i = 0; i < spec->count; i++) {
        const char *op = spec->calls[i].op;
        if (strcmp(op, "input") == 0 || strcmp(op, "name") == 0 || strcmp(op, "output") == 0) add_named(&g, spec->calls[i].name);
    }
    return g;
}

Trace *trace_graph(Arena *a, Engine *e)
{
    Gather g = gather_graph(a, e);
    g.trace->status = e->ops->run(e);
    if (!g.trace->status) gather_source(&g);
    return g.trace;
}

Trace *trace_names(Arena *a, const Plan *p)
{
    Engine none = { .plan = p };
    return p->graph->model->graph ? gather_graph(a, &none).trace : gather_model(a, &none, 0, 0).trace;
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

const TraceTensor *trace_find(const Trace *t, const char *name)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->tensors[i].name, name) == 0) return &t->tensors[i];
    return NULL;
}

double trace_distance(const TraceTensor *a, const TraceTensor *b)
{
    if (a->rank != b->rank) return INFINITY;
    size_t n = 1;
    for (int r = 0; r < a->rank; r++) {
        if (a->shape[r] != b->shape[r]) return INFINITY;
        n *= (size_t)a->shape[r];
    }
    double apart = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (a->lowest && a->values[i] <= -INFINITY && b->values[i] <= -INFINITY) continue;
        if (!isfinite(a->values[i]) || !isfinite(b->values[i])) return INFINITY;
        apart = fmax(apart, fabs((double)a->values[i] - b->values[i]));
        largest = fmax(largest, fabs((double)b->values[i]));
    }
    return apart ? apart / largest : 0;
}
