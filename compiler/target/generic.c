/* generic.c: the engine that runs a Plan operation by operation, on OpenBLAS. Neither text nor packed weights: it is
 * what the emitted code is compared with, in numbers and in speed. Its calls check what the emitted functions check.
 *
 * A state begins, as the emitted one does, with int32 source_length[slots] and next_position[slots]; slot 0 is used. */
#include "generic.h"

#include <string.h>

/* ---- running -------------------------------------------------------------------------------------------- */

/* What a block leaves for its next layer stands where that layer looks for it, or is copied there. */
static void pass_on(const GenericPass *pass, const PlanBlock *b)
{
    if (!b->carry_in || b->carry_in == b->carry_out) return;
    memcpy(generic_address(pass, b->carry_in), generic_address(pass, b->carry_out), b->carry_in->bytes);
}

static void run_program(const Engine *e, const char *name, int64_t source, int64_t rows, int64_t target)
{
    const PlanProgram *p = plan_program(e->plan, name);
    if (!p) die("no program %s", name);
    GenericPass pass = { .engine = e, .used = { [COUNT_SOURCE] = source, [COUNT_ROWS] = rows, [COUNT_TARGET] = target } };
    for (int i = 0; i < p->count; i++) {
        const PlanRun *run = &p->runs[i];
        for (int j = 0; j < run->count; j++) {
            pass.layer = run->first + j;
            for (int k = 0; k < run->block->op_count; k++) generic_op(&pass, &run->block->ops[k]);
            if (j + 1 < run->count) pass_on(&pass, run->block);
        }
    }
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

static const Model *model_of(const Engine *e) { return e->plan->graph->model; }
static int32_t *source_length(const Engine *e) { return (int32_t *)e->state; }
static int32_t *next_position(const Engine *e) { return (int32_t *)e->state + e->plan->options.slots; }

/* An integer input; NULL where no operation reads it. */
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

static rt_status encode(Engine *e, const int *ids, int n)
{
    const Model *m = model_of(e);
    if (!m->has_encoder || n < 1) return RT_ORDER;
    if (n > m->max_source) return RT_TOO_LONG;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= m->source_vocab) return RT_BAD_ID;
    memcpy(input(e, "source_ids"), ids, (size_t)n * sizeof *ids);
    set_input(e, "source_positions", n, FILL_INDEX);
    set_input(e, "source_visible", n, n);
    run_program(e, "encode", n, 0, 0);
    *source_length(e) = n;
    *next_position(e) = 0;
    return RT_OK;
}

/* Append one token by `program`, whose last block leaves what is asked for. */
static rt_status append(Engine *e, const char *program, int id)
{
    const Model *m = model_of(e);
    const int position = *next_position(e);
    if (!m->has_decoder) return RT_ORDER;
    if (id < 0 || id >= m->target_vocab) return RT_BAD_ID;
    if (position >= m->max_target) return RT_TOO_LONG;
    if (m->has_encoder && !*source_length(e)) return RT_ORDER;
    set_input(e, "rows_ids", 1, id);
    set_input(e, "rows_positions", 1, position);
    set_input(e, "rows_visible", 1, position + 1);
    if (m->has_encoder) set_input(e, "rows_visible_memory", 1, *source_length(e));
    run_program(e, program, *source_length(e), 1, position + 1);
    *next_position(e) = position + 1;
    return RT_OK;
}

/* Where the last floats of a program lie: its last block's, or those it took where it leaves integers. */
static const float *result_of(const Engine *e, const char *program)
{
    const PlanProgram *p = plan_program(e->plan, program);
    const PlanBlock *last = p->runs[p->count - 1].block;
    const Buffer *b = last->carry_out->layout == LAYOUT_INTS ? last->carry_in : last->carry_out;
    return (const float *)(e->state + plan_address(e->plan, b));
}

static rt_status step(Engine *e, int id)
{
    rt_status status = append(e, "step", id);
    if (!status) ((Generic *)e->own)->result = result_of(e, "step");
    return status;
}

static rt_status clear(Engine *e)
{
    if (!model_of(e)->has_decoder) return RT_ORDER;
    *next_position(e) = 0;
    return RT_OK;
}

static rt_status next(Engine *e, int id, int *next)
{
    rt_status status = append(e, "next", id);
    if (status) return status;
    ((Generic *)e->own)->result = result_of(e, "next");
    *next = *input(e, "next_id");
    return RT_OK;
}

/* Whether these rows may come next: all of slot 0, one after the other. */
static rt_status check_rows(const Engine *e, const rt_row *r, int n)
{
    const Model *m = model_of(e);
    if (!m->has_decoder || n < 1 || r[0].position < 0 || r[0].position > *next_position(e)) return RT_ORDER;
    if (n > engine_rows(e) || r[0].position + n > m->max_target) return RT_TOO_LONG;
    if (m->has_encoder && !*source_length(e)) return RT_ORDER;
    for (int i = 0; i < n; i++) {
        if (r[i].slot != 0 || r[i].id < 0 || r[i].id >= m->target_vocab) return RT_BAD_ID;
        if (r[i].position != r[0].position + i) return RT_ORDER;
    }
    return RT_OK;
}

static rt_status rows(Engine *e, const rt_row *r, int n)
{
    const rt_status status = check_rows(e, r, n);
    if (status) return status;
    const int first = r[0].position;
    *next_position(e) = first;
    if (n == 1) return step(e, r[0].id);
    int32_t *ids = input(e, "rows_ids"), *positions = input(e, "rows_positions"), *visible = input(e, "rows_visible");
    for (int i = 0; i < n; i++) {
        ids[i] = r[i].id;
        if (positions) positions[i] = first + i;
        visible[i] = first + i + 1;
    }
    if (model_of(e)->has_encoder) set_input(e, "rows_visible_memory", n, *source_length(e));
    run_program(e, "rows", *source_length(e), n, first + n);
    *next_position(e) = first + n;
    ((Generic *)e->own)->result = result_of(e, "rows");
    return RT_OK;
}

/* Null before the first step. */
static const float *logits(const Engine *e) { return ((const Generic *)e->own)->result; }

static rt_status run(Engine *e)
{
    if (model_of(e)->model_kind != KIND_GRAPH) return RT_ORDER;
    run_program(e, "run", 0, 0, 0);
    return RT_OK;
}

static rt_status threads(Engine *e, int lanes)
{
    if (lanes < 1) return RT_NO_ROOM;
    ((Generic *)e->own)->lanes = lanes;
    return RT_OK;
}

static void close(Engine *e) { arena_free(((Generic *)e->own)->arena); }

/* ---- opening -------------------------------------------------------------------------------------------- */

static float *read_dense(Arena *a, const TensorSource *source)
{
    float *values = arena_array(a, (size_t)tensor_elements(source), sizeof *values);
    tensor_read(source, values);
    return values;
}

static void read_weights(Generic *own, const Graph *g)
{
    own->weights = arena_array(own->arena, (size_t)g->tensor_count, sizeof *own->weights);
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        if (t->kind != TENSOR_PARAM) continue;
        const int n = t->layers ? t->layers : 1;
        own->weights[t->id] = arena_array(own->arena, (size_t)n, sizeof **own->weights);
        for (int j = 0; j < n; j++) own->weights[t->id][j] = read_dense(own->arena, t->source[j]);
    }
}

static unsigned char *aligned(Arena *a, size_t bytes)
{
    return (unsigned char *)pad64((size_t)(uintptr_t)arena_alloc(a, bytes + 64));
}

static Engine *open(Arena *a, const Plan *p, Product *product)
{
    static const EngineOps ops = { .encode = encode, .step = step, .next = next, .rows = rows, .logits = logits, .clear = clear, .run = run,
                                   .threads = threads, .close = close };
    if (p->options.target != TARGET_ROW_MAJOR) die("the generic engine runs row-major plans");
    Generic *own = arena_alloc(a, sizeof *own);
    *own = (Generic){ .arena = arena_new(), .lanes = 1, .product = product };
    read_weights(own, p->graph);
    Engine *e = arena_alloc(a, sizeof *e);
    *e = (Engine){ .name = "generic", .ops = &ops, .plan = p, .state = aligned(own->arena, p->state_bytes), .own = own };
    engine_reset(e);
    return e;
}

Engine *generic_open(Arena *a, Diag *d, const Plan *p)
{
    (void)d;
    return open(a, p, blas_product);
}

Engine *generic_open_plain(Arena *a, const Plan *p) { return open(a, p, plain_product); }
