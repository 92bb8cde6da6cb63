/* engine.c: what all engines share: names, starting threads, the header of a state, access to
 * inputs and tensors, and calls row by row. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "", ENGINE_WORDS };
enum { KINDS = sizeof names / sizeof *names };

const char *engine_name(EngineKind kind) { return names[kind]; }

EngineKind engine_of_name(const char *word)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(names[i], word) == 0) return (EngineKind)i;
    return ENGINE_ANY;
}

static unsigned char *address(const Engine *e, const Buffer *b, int layer_index)
{
    return e->state + plan_address(e->plan, b) + (size_t)layer_index * b->layer_stride;
}

static void write_rows(const Engine *e, const Buffer *b, const float *values)
{
    for (int64_t r = 0; r < b->heads * b->rows; r++)
        memcpy(address(e, b, 0) + (size_t)(r * b->stride) * sizeof(float), values + r * b->width, (size_t)b->width * sizeof(float));
}

bool engine_start_threads(Diag *d, Engine *e, int threads)
{
    const rt_status status = e->ops->threads(e, threads);
    if (status == RT_NO_ROOM)
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "no memory for %d threads, or the system does not allow that many", threads);
    else if (status)
        diag_error(d, EXIT_USAGE, (Loc){ 0 }, "--threads %d: the model was compiled for at most %d; see --max-threads", threads,
                   e->plan->options.max_threads);
    return !status;
}

void engine_pair(Engine *e, int first, int n) { e->second = e->plan->graph->model->token_types > 1 && first < n ? first : 0; }

int32_t *engine_position(const Engine *e) { return (int32_t *)e->state + e->plan->options.slots; }

static void fill_integers(const Engine *e, const Buffer *b)
{
    const int32_t position = *engine_position(e);
    int32_t *to = (int32_t *)address(e, b, 0);
    for (int64_t i = 0; i < b->rows; i++) {
        switch (b->tensor->fill) {
        case FILL_INDEX: to[i] = (int32_t)i; break;
        case FILL_COUNT: to[i] = (int32_t)i + 1; break;
        case FILL_POSITION: to[i] = position + (int32_t)i; break;
        case FILL_SEEN:  to[i] = position + (int32_t)i + 1; break;
        default:         to[i] = b->tensor->fill; break;
        }
    }
}

void engine_reset(Engine *e)
{
    engine_forget(e);
    engine_inputs(e);
}

void engine_forget(Engine *e) { memset(e->state, 0, e->plan->header_bytes); }

void engine_fill(Engine *e)
{
    for (int i = 0; i < e->plan->buffer_count; i++)
        if (e->plan->buffers[i]->tensor->kind == TENSOR_INPUT && e->plan->buffers[i]->layout == LAYOUT_INTS) fill_integers(e, e->plan->buffers[i]);
}

bool engine_has_room(const Engine *e)
{
    const Graph *g = e->plan->graph;
    return *engine_position(e) <= g->capacity - g->step_rows;
}

rt_status engine_run(Engine *e)
{
    if (!engine_has_room(e)) engine_forget(e);
    return e->ops->run(e);
}

void engine_inputs(Engine *e)
{
    const Plan *p = e->plan;
    for (int i = 0; i < p->buffer_count; i++) {
        const Buffer *b = p->buffers[i];
        if (b->tensor->kind != TENSOR_INPUT) continue;
        if (b->layout == LAYOUT_INTS) fill_integers(e, b);
        else if (b->tensor->values) write_rows(e, b, b->tensor->values);
        else memset(address(e, b, 0), 0, b->bytes);
    }
}

void engine_set_input(Engine *e, const char *name, const float *values)
{
    for (int i = 0; i < e->plan->buffer_count; i++) {
        const Buffer *b = e->plan->buffers[i];
        bool asked = b->tensor->kind == TENSOR_INPUT && b->layout == LAYOUT_ROWS && strcmp(b->tensor->name, name) == 0;
        if (asked) write_rows(e, b, values);
    }
}

/* The first buffer, among the inputs or among the computed tensors, that holds a number that is not
 * allowed; *t receives its tensor. NULL if there is none. */
static const Buffer *bad_buffer(const Engine *e, bool inputs, const Tensor **t)
{
    const PlanBlock *b = e->plan->blocks[0];
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < NODE_INPUTS; k++) {
            const PlanOp *op = &b->ops[i];
            const Buffer *x = op->node->op == OP_ATTENTION ? op->in[k] : NULL;
            *t = x ? op->node->in[k] : NULL;
            if (!x || !(*t)->holds || ((*t)->kind == TENSOR_INPUT) != inputs) continue;
            const float *rows = (const float *)address(e, x, 0);
            for (int64_t r = 0; r < x->heads * x->rows; r++)
                if (graph_first_fault((*t)->holds, rows + r * x->stride, x->width) < x->width)
                    return x;
        }
    return NULL;
}

bool engine_holds(const Engine *e, bool inputs)
{
    const Tensor *t;
    return !bad_buffer(e, inputs, &t);
}

const char *engine_fault(Arena *a, const Engine *e)
{
    const Tensor *t;
    const Buffer *b = bad_buffer(e, true, &t);
    if (!b) b = bad_buffer(e, false, &t);
    if (!b) return NULL;
    float *values = arena_array(a, (size_t)(b->heads * b->rows * b->width), sizeof *values);
    engine_read(e, b, 0, b->rows, b->width, values);
    return graph_value_fault(a, t, values);
}

int engine_rows(const Engine *e) { return plan_rows(e->plan); }

int64_t engine_logits_stride(const Engine *e)
{
    const PlanProgram *p = plan_program(e->plan, PROGRAM_STEP);
    return p->runs[p->count - 1].block->carry_out->stride;
}

rt_status engine_each_row(Engine *e, const rt_token *rows, int n, int *next)
{
    const size_t stride = (size_t)engine_logits_stride(e);
    float *logits = malloc((size_t)n * stride * sizeof *logits);
    rt_status status = logits ? RT_OK : RT_NO_ROOM;
    for (int i = 0; i < n && status == RT_OK; i++) {
        status = next ? e->ops->decode_greedy(e, &rows[i], 1, &next[i]) : e->ops->decode(e, &rows[i], 1);
        if (status == RT_OK) memcpy(logits + (size_t)i * stride, e->ops->logits(e), stride * sizeof *logits);
    }
    if (status == RT_OK) memcpy((float *)(uintptr_t)e->ops->logits(e), logits, (size_t)n * stride * sizeof *logits);
    free(logits);
    return status;
}

bool engine_saturated(const Engine *e)
{
    const int32_t *flags = (const int32_t *)(const void *)(e->state + e->plan->saturated_offset);
    for (int i = 0; e->plan->saturated_offset && i < e->plan->options.max_threads; i++)
        if (flags[i]) return true;
    return false;
}

void engine_close(Engine *e)
{
    if (e) e->ops->close(e);
}

static void read_integers(const Engine *e, const Buffer *b, int layer_index, int64_t rows, float *out)
{
    const int32_t *from = (const int32_t *)address(e, b, layer_index);
    for (int64_t r = 0; r < rows; r++) out[r] = (float)from[r];
}

void engine_read(const Engine *e, const Buffer *b, int layer_index, int64_t rows, int64_t columns, float *out)
{
    if (b->layout == LAYOUT_INTS) {
        read_integers(e, b, layer_index, rows, out);
        return;
    }
    if (b->layout != LAYOUT_ROWS) die("%s is not stored in rows", b->name);
    const float *from = (const float *)address(e, b, layer_index);
    for (int64_t h = 0; h < b->heads; h++)
        for (int64_t r = 0; r < rows; r++, out += columns)
            memcpy(out, from + (h * b->rows + r) * b->stride, (size_t)columns * sizeof *out);
}

void engine_write(const Engine *e, const Buffer *b, int layer_index, int64_t rows, int64_t columns, const float *values)
{
    if (b->layout != LAYOUT_ROWS) die("%s is not stored in rows", b->name);
    float *to = (float *)address(e, b, layer_index);
    for (int64_t h = 0; h < b->heads; h++)
        for (int64_t r = 0; r < rows; r++, values += columns)
            memcpy(to + (h * b->rows + r) * b->stride, values, (size_t)columns * sizeof *values);
}
