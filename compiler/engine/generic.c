/* generic.c: interpret a Plan operation by operation, with OpenBLAS or plain products. It is the
 * reference for the results and the speed of emitted code. Its calls, except for `threads`, make the
 * same checks as the emitted functions.
 *
 * As in emitted code, a state begins with int32 source_length[slots], next_position[slots] and, if
 * plan->back is not 0, furthest[slots]. */
#include "generic.h"
#include "quantise.h"
#include "rt_rows.h"
#include "weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- running -------------------------------------------------------------------------------------------- */

/* Copy a layer's result to where the next layer of the block reads it, unless it is there
 * already. */
static void pass_on(const GenericPass *pass, const PlanBlock *b)
{
    if (!b->carry_in || b->carry_in == b->carry_out) return;
    memcpy(generic_address(pass, b->carry_in), generic_address(pass, b->carry_out), b->carry_in->bytes);
}

/* After a copy to a tap, replace the copied tensor with the guide's values (generic_follow). In the
 * guide, the rows of a decoder are indexed by position. */
static void follow(const GenericPass *pass, const PlanBlock *b, const PlanOp *op)
{
    const Engine *e = pass->engine;
    const Generic *own = e->own;
    const Tensor *t = op->result;
    if (op->kernel != KERNEL_ACTIVATION || op->out[0]->place != PLACE_TAP || t->rank != 2) return;
    char name[256], *place;
    snprintf(name, sizeof name, "%s", t->name);
    if ((place = strstr(name, "{}")))
        snprintf(place, sizeof name - (size_t)(place - name), "%d%s", b->block->layer[pass->layer], strstr(t->name, "{}") + 2);
    const float *values = own->guide(own->guide_user, name);
    const int64_t columns = t->dim[1].bound, rows = t->dim[0].count == COUNT_CONSTANT ? t->dim[0].bound : pass->used[t->dim[0].count];
    if (!values) return;
    if (t->dim[0].count == COUNT_ROWS) values += *engine_position(e) * columns;
    float *to = generic_address(pass, op->in[0]);
    for (int64_t r = 0; r < rows; r++) memcpy(to + r * op->in[0]->stride, values + r * columns, (size_t)columns * sizeof *to);
}

void generic_follow(Engine *e, EngineGuide *guide, void *user)
{
    Generic *own = e->own;
    own->guide = guide;
    own->guide_user = user;
}

/* Size of the largest result, in floats. */
static int64_t largest_result(const Plan *p)
{
    int64_t most = 1;
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->op_count; j++) {
            const Buffer *b = p->blocks[i]->ops[j].out[0];
            if (b && b->rows * b->width > most) most = b->rows * b->width;
        }
    return most;
}

void generic_weigh(Engine *e, bool weigh)
{
    Generic *own = e->own;
    own->weighs = weigh;
    if (!weigh || own->sizes) return;
    own->sizes = arena_array(own->arena, (size_t)largest_result(e->plan), sizeof *own->sizes);
}

/* Run the first `ops` operations of a block, for one layer. */
static void run_layer(const GenericPass *pass, const PlanBlock *b, int ops)
{
    Generic *own = pass->engine->own;
    for (int i = 0; i < ops; i++) {
        (own->weighs ? generic_op_weighed : generic_op)(pass, &b->ops[i]);
        if (own->guide) follow(pass, b, &b->ops[i]);
        if (!own->walks) generic_forget_weights(own);
    }
}

/* Run part of a program for pass.slot or, if there are groups, for their slots. */
static void run_part(GenericPass pass, const PlanPart *part)
{
    for (int i = 0; i < part->runs; i++) {
        const PlanRun *run = &part->program->runs[i];
        for (int j = 0; j < run->count; j++) {
            const bool last = i + 1 == part->runs && j + 1 == run->count;
            pass.layer = run->first + j;
            run_layer(&pass, run->block, last ? part->last_ops : run->block->op_count);
            if (j + 1 < run->count) pass_on(&pass, run->block);
        }
    }
}

static void run_program(const Engine *e, ProgramKind kind, int slot, int64_t source)
{
    const GenericPass pass = { .engine = e, .used = { [COUNT_SOURCE] = source }, .slot = slot };
    const PlanPart part = plan_part(e->plan, kind);
    if (!part.program) die("no program %s", program_name(kind));
    run_part(pass, &part);
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

static const Model *model_of(const Engine *e) { return e->plan->graph->model; }
static int32_t *source_length(const Engine *e) { return (int32_t *)e->state; }
static int32_t *next_position(const Engine *e) { return source_length(e) + e->plan->options.slots; }
static int32_t *furthest(const Engine *e) { return e->plan->back ? next_position(e) + e->plan->options.slots : NULL; }

/* An integer input, or the result next_id; NULL if the plan has no buffer of that name. */
static int32_t *input(const Engine *e, const char *name)
{
    const Buffer *b = plan_buffer(e->plan, name);
    return b ? (int32_t *)(e->state + plan_address(e->plan, b)) : NULL;
}

static void set_input(const Engine *e, const char *name, int n, int32_t value)
{
    int32_t *to = input(e, name);
    for (int i = 0; to && i < n; i++) to[i] = value == FILL_INDEX ? i : value;
}

/* For causal layers: each row sees itself and the rows before it. */
static void set_seen(const Engine *e, int n)
{
    int32_t *to = input(e, "source_seen");
    for (int i = 0; to && i < n; i++) to[i] = i + 1;
}

static void set_types(const Engine *e, int n)
{
    int32_t *to = input(e, "source_types");
    for (int i = 0; to && i < n; i++) to[i] = e->second && i >= e->second;
}

static rt_status encode(Engine *e, int slot, const int *ids, int n)
{
    const Model *m = model_of(e);
    if (!m->has_encoder) return RT_ORDER;
    if (slot < 0 || slot >= e->plan->options.slots) return RT_BAD_ID;
    if (n < 1 || e->second < 0 || e->second > n) return RT_ORDER;
    if (n > m->max_source) return RT_TOO_LONG;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= m->source_vocab) return RT_BAD_ID;
    memcpy(input(e, "source_ids"), ids, (size_t)n * sizeof *ids);
    set_input(e, "source_positions", n, FILL_INDEX);
    set_input(e, "source_visible", n, n);
    set_seen(e, n);
    set_types(e, n);
    run_program(e, PROGRAM_ENCODE, slot, n);
    source_length(e)[slot] = n;
    next_position(e)[slot] = 0;
    return RT_OK;
}

/* The last floats that a program computed: the result of its last block or, if that is integers,
 * the input of the block. */
static const float *result_of(const Engine *e, const PlanProgram *p)
{
    const PlanBlock *last = p->runs[p->count - 1].block;
    const Buffer *b = last->carry_out->layout == LAYOUT_INTS ? last->carry_in : last->carry_out;
    return (const float *)(e->state + plan_address(e->plan, b));
}

static rt_status clear(Engine *e)
{
    if (!model_of(e)->has_decoder) return RT_ORDER;
    *next_position(e) = 0;
    return RT_OK;
}

/* The state as rt_rows.h sees it. */
static RtRows rows_of(const Engine *e)
{
    const Model *m = model_of(e);
    return (RtRows){ .slots = e->plan->options.slots, .vocab = (int)m->target_vocab,
                     .source_length = source_length(e), .next_position = next_position(e), .furthest = furthest(e),
                     .positions_most = (int)m->max_target, .rows_most = engine_rows(e), .back = e->plan->back,
                     .ids = input(e, "rows_ids"), .positions = input(e, "rows_positions"), .visible = input(e, "rows_visible"),
                     .memory = m->has_encoder ? input(e, "rows_visible_memory") : NULL };
}

/* Run n rows with program `one` if n is 1, else with `many`. */
static rt_status run_rows(Engine *e, const rt_token *rows, int n, ProgramKind one, ProgramKind many)
{
    Generic *own = e->own;
    if (!model_of(e)->has_decoder) return RT_ORDER;
    const RtRows r = rows_of(e);
    const rt_status status = rt_rows_begin(&r, rows, n);
    if (status) return status;
    const rt_group *end = rt_rows_group(rows, n, own->groups);
    const PlanPart part = plan_part(e->plan, n == 1 ? one : many);
    const GenericPass pass = { .engine = e, .used = { [COUNT_ROWS] = n }, .groups = own->groups,
                               .group_count = (int)(end - own->groups) };
    run_part(pass, &part);
    rt_rows_end(&r, rows, n);
    own->result = result_of(e, part.program);
    return RT_OK;
}

/* ---- a layer at a time ------------------------------------------------------------------------ */

/* Set the inputs for row i of slot 0, as if the rows before it had run. */
static rt_status take_row(const Engine *e, const RtRows *r, int i, int id)
{
    const rt_token row = { 0, i, id };
    *next_position(e) = i;
    if (r->furthest) *r->furthest = i;
    return rt_rows_begin(r, &row, 1);
}

/* The rows passed from layer to layer: [n][width]. */
typedef struct Carried { float *rows; int64_t width; } Carried;

static Carried room_for(const PlanProgram *p, int n)
{
    Carried c = { NULL, 1 };
    for (int i = 0; i < p->count; i++)
        if (p->runs[i].block->carry_out->width > c.width) c.width = p->runs[i].block->carry_out->width;
    const size_t numbers = (size_t)n * (size_t)c.width;
    if (!(c.rows = malloc(numbers * sizeof *c.rows + 1))) no_memory("a trace of %zu numbers", numbers);
    return c;
}

/* Run one layer for all rows, one after another. */
static void walk_layer(const GenericPass *pass, const PlanBlock *b, Carried c, const int *ids, int n,
                       EngineAt *at, void *user)
{
    const Engine *e = pass->engine;
    const RtRows r = rows_of(e);
    for (int i = 0; i < n; i++) {
        float *carried = c.rows + i * c.width;
        take_row(e, &r, i, ids[i]);
        if (b->carry_in)
            memcpy(generic_address(pass, b->carry_in), carried, (size_t)b->carry_in->width * sizeof *carried);
        run_layer(pass, b, b->op_count);
        memcpy(carried, generic_address(pass, b->carry_out), (size_t)b->carry_out->width * sizeof *carried);
        at(user, i, b, pass->layer);
    }
}

bool generic_reads_anew(const Engine *e) { return !((const Generic *)e->own)->kept; }

rt_status generic_walk(Engine *e, const int *ids, int n, EngineAt *at, void *user)
{
    Generic *own = e->own;
    const PlanProgram *p = plan_program(e->plan, PROGRAM_STEP);
    const RtRows r = rows_of(e);
    const rt_group one = { .slot = 0, .rows = { 0, 1 } };
    rt_status status = n > 0 && p ? RT_OK : RT_ORDER;
    for (int i = 0; i < n && status == RT_OK; i++) status = take_row(e, &r, i, ids[i]);
    if (status) return status;
    const Carried carried = room_for(p, n);
    GenericPass pass = { .engine = e, .used = { [COUNT_ROWS] = 1 }, .groups = &one, .group_count = 1 };
    own->walks = true;
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < p->runs[i].count; j++) {
            pass.layer = p->runs[i].first + j;
            walk_layer(&pass, p->runs[i].block, carried, ids, n, at, user);
            generic_forget_weights(own);
        }
    own->walks = false;
    free(carried.rows);
    rt_rows_end(&r, &(rt_token){ 0, n - 1, ids[n - 1] }, 1);
    own->result = result_of(e, p);
    return RT_OK;
}

/* ---- calls of a decoder ----------------------------------------------------------------------- */

static rt_status decode(Engine *e, const rt_token *r, int n)
{
    return run_rows(e, r, n, PROGRAM_STEP, PROGRAM_DECODE);
}

static rt_status prefill(Engine *e, const rt_token *r, int n)
{
    return run_rows(e, r, n, PROGRAM_STEP, PROGRAM_PREFILL);
}

static rt_status decode_greedy(Engine *e, const rt_token *r, int n, int *next)
{
    rt_status status = run_rows(e, r, n, PROGRAM_NEXT, PROGRAM_DECODE_GREEDY);
    for (int i = 0; !status && i < n; i++) next[i] = input(e, "next_id")[i];
    /* -1: a logit is NaN or +inf */
    for (int i = 0; !status && i < n; i++) status = next[i] < 0 ? RT_NOT_FINITE : RT_OK;
    return status;
}

/* The row that appends an id to slot 0. */
static rt_token appended(const Engine *e, int id) { return (rt_token){ 0, *next_position(e), id }; }

static rt_status step(Engine *e, int id)
{
    const rt_token row = appended(e, id);
    return decode(e, &row, 1);
}

static rt_status next(Engine *e, int id, int *next)
{
    const rt_token row = appended(e, id);
    return decode_greedy(e, &row, 1, next);
}

static rt_status fork_slot(Engine *e, int from, int to)
{
    const Plan *p = e->plan;
    const int slots = p->options.slots;
    unsigned char *const first = e->state + p->slots_offset;
    if (!model_of(e)->has_decoder) return RT_ORDER;
    if (from < 0 || from >= slots || to < 0 || to >= slots) return RT_BAD_ID;
    if (from == to) return RT_OK;
    memcpy(first + (size_t)to * p->slot_bytes, first + (size_t)from * p->slot_bytes, p->slot_bytes);
    const RtRows r = rows_of(e);
    rt_rows_fork(&r, from, to);
    return RT_OK;
}

/* NULL before the first step. */
static const float *logits(const Engine *e) { return ((const Generic *)e->own)->result; }

static rt_status run(Engine *e)
{
    if (model_of(e)->model_kind != KIND_GRAPH) return RT_ORDER;
    if (!engine_has_room(e)) return RT_TOO_LONG;
    if (!engine_holds(e, true)) return RT_BAD_VALUE;
    engine_fill(e);
    run_program(e, PROGRAM_RUN, 0, 0);
    if (!engine_holds(e, false)) return RT_BAD_VALUE;
    *next_position(e) += (int32_t)e->plan->graph->step_rows;
    return RT_OK;
}

static rt_status threads(Engine *e, int threads)
{
    Generic *own = e->own;
    if (threads < 1 || (own->product == blas_product && !blas_start_threads(threads))) return RT_NO_ROOM;
    own->threads = threads;
    return RT_OK;
}

static void close(Engine *e)
{
    Generic *own = e->own;
    if (own->custom) custom_free(own->custom);
    free(own->anew);
    rt_team_resize(&own->team, 1);
    generic_close_weights(own);
    arena_free(own->arena);
}

/* ---- opening -------------------------------------------------------------------------------------------- */

/* Allocate own->rounded for the largest input of a quantized linear, if there is one. */
static void make_rounded(Generic *own, const Plan *p)
{
    const Graph *g = p->graph;
    int64_t most = 0;
    for (int i = 0; i < g->block_count; i++)
        for (int j = 0; j < g->blocks[i]->count; j++) {
            const Node *n = g->blocks[i]->nodes[j];
            if (n->op != OP_LINEAR || !format_is_quantised(p->formats[n->in[1]->id])) continue;
            const int64_t elements = n->in[0]->dim[0].bound * n->in[1]->dim[1].bound;
            if (elements > most) most = elements;
        }
    if (most) own->rounded = arena_array(own->arena, (size_t)most, sizeof *own->rounded);
}

/* Copy values[rows][columns] of a model's tensor to `to`, in the layout of the view. */
static void copy_dense(float *to, const TensorSource *view, const TensorSource *parent, const float *values)
{
    const int64_t n = tensor_elements(view);
    if (!tensor_is_transposed(view, parent)) {
        memcpy(to, values, (size_t)n * sizeof *values);
        return;
    }
    for (int64_t i = 0; i < n; i++) to[i] = values[i % view->shape[1] * view->shape[0] + i / view->shape[1]];
}

void generic_set_weight(Engine *e, const char *name, const float *values)
{
    Generic *own = e->own;
    const Graph *g = e->plan->graph;
    const TensorSource *parent = model_tensor(g->model, name);
    for (int i = 0; parent && i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        for (int j = 0; t->kind == TENSOR_PARAM && j < (t->layers ? t->layers : 1); j++)
            if (strcmp(t->source[j]->name, name) == 0) {
                float *w = generic_own_weights(own, t, j);
                copy_dense(w, t->source[j], parent, values);
                generic_round_weights(w, e->plan, t);
            }
    }
}

static unsigned char *aligned(Arena *a, size_t bytes)
{
    return (unsigned char *)pad64((size_t)(uintptr_t)arena_alloc(a, bytes + 64));
}

static Engine *open(Arena *a, Diag *d, const Plan *p, Product *product, bool keep, const Engine *beside)
{
    static const EngineOps ops = { .encode = encode, .step = step, .next = next, .decode = decode, .prefill = prefill, .decode_greedy = decode_greedy,
                                   .logits = logits, .fork = fork_slot, .clear = clear, .run = run, .threads = threads, .close = close };
    if (p->options.target != TARGET_ROW_MAJOR) die("the generic engine runs only row-major plans");
    Generic *own = arena_alloc(a, sizeof *own);
    *own = (Generic){ .arena = arena_new(), .threads = 1, .product = product };
    if (graph_has_custom(p->graph) && !(own->custom = custom_compile(own->arena, d, p))) {
        arena_free(own->arena);
        return NULL;
    }
    generic_open_weights(own, p, keep, beside);
    make_rounded(own, p);
    Engine *e = arena_alloc(a, sizeof *e);
    *e = (Engine){ .name = engine_name(ENGINE_GENERIC), .ops = &ops, .plan = p,
                   .state = aligned(own->arena, p->state_bytes), .own = own };
    if (p->graph->model->has_decoder) own->groups = arena_array(own->arena, (size_t)engine_rows(e), sizeof *own->groups);
    engine_reset(e);
    return e;
}

Engine *generic_open(Arena *a, Diag *d, const Plan *p, const Engine *beside)
{
    bool anew;
    plan_generic_bytes(p->graph, &anew);
    return plan_fits_machine(d, p, WORK_RUN) && blas_load(d) ? open(a, d, p, blas_product, !anew, beside) : NULL;
}

Engine *generic_open_packed(Arena *a, const Plan *p, const PackedData *packed)
{
    Engine *e = generic_open_plain(a, p, false);
    ((Generic *)e->own)->packed = packed;
    return e;
}

Engine *generic_open_plain(Arena *a, const Plan *p, bool keep)
{
    Engine *e = open(a, diag_new(a), p, plain_product, keep, NULL);
    if (!e) die("C that was checked does not compile");
    return e;
}
