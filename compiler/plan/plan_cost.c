/* plan_cost.c: look up programs of a Plan and their results, and count FLOPs and weight bytes. */
#include "plan.h"

#include <string.h>

const PlanProgram *plan_program(const Plan *p, ProgramKind kind)
{
    for (int i = 0; i < p->program_count; i++)
        if (p->programs[i].program->kind == kind) return &p->programs[i];
    return NULL;
}

int plan_rows(const Plan *p)
{
    const PlanProgram *rows = plan_program(p, PROGRAM_DECODE);
    return rows ? (int)rows->runs[0].block->rows : 1;
}

/* The number of runs up to the last one of a block of layers. */
static int layer_runs(const PlanProgram *p)
{
    int n = p->count;
    while (n && !p->runs[n - 1].block->block->layers) n--;
    return n;
}

/* The number of operations up to the last one that writes to a slot; all if none does. */
static int ops_that_keep(const PlanBlock *b)
{
    int n = b->op_count;
    while (n && !(b->ops[n - 1].out[0] && b->ops[n - 1].out[0]->place == PLACE_SLOT)) n--;
    return n ? n : b->op_count;
}

PlanPart plan_part(const Plan *p, ProgramKind kind)
{
    const bool prefill = kind == PROGRAM_PREFILL;
    PlanPart part = { plan_program(p, prefill ? PROGRAM_DECODE : kind), 0, 0 };
    if (!part.program) return part;
    part.runs = prefill ? layer_runs(part.program) : part.program->count;
    if (!part.runs) return part;
    const PlanBlock *last = part.program->runs[part.runs - 1].block;
    part.last_ops = prefill && !p->options.taps ? ops_that_keep(last) : last->op_count;
    return part;
}

int plan_part_layers(const PlanPart *part, int run, int op)
{
    const int layers = part->program->runs[run].count;
    return run == part->runs - 1 && op >= part->last_ops ? layers - 1 : layers;
}

static const Buffer *left_by_block(const Plan *p, const char *name)
{
    for (int i = 0; i < p->block_count; i++)
        if (strcmp(p->blocks[i]->block->name, name) == 0) return p->blocks[i]->carry_out;
    return NULL;
}

const Buffer *plan_hidden(const Plan *p)
{
    const Buffer *end = left_by_block(p, "encoder_end");
    return end ? end : left_by_block(p, "encoder_layer");
}
const Buffer *plan_vector(const Plan *p) { return left_by_block(p, "head"); }

/* How many keys a row of attention sees: those in its window if `keys` exceeds it; else
 * `memory_keys` if the keys are a state computed from the source, and `keys` if not. */
static int64_t keys_seen(const PlanOp *op, int64_t keys, int64_t memory_keys)
{
    const Tensor *t = op->node->in[1];
    const int64_t one_side = op->node->window, window = op->in[5] ? 2 * one_side - 1 : one_side;
    if (one_side && keys > window) return window;
    return t->kind == TENSOR_STATE && t->dim[0].count == COUNT_SOURCE ? memory_keys : keys;
}

static double op_weight_bytes(const PlanOp *op, int64_t rows)
{
    double params = 0;
    for (int i = 0; i < NODE_INPUTS; i++)
        if (op->params[i]) params += (double)op->params[i]->bytes;
    if (!op->weights) return params;
    for (int i = 1; i < op->joined_count; i++) params += (double)op->joined[i]->bytes;
    if (op->kernel == KERNEL_EMBED && format_is_narrow(op->weights->format))
        return (double)rows * (double)op->weights->bytes / (16 * (double)op->weights->shape[0]);
    if (op->weights->format != FORMAT_TABLE_F32 && op->weights->format != FORMAT_DISTANCE_F32) return params + (double)op->weights->bytes;
    if (op->weights->format == FORMAT_DISTANCE_F32) return (double)op->weights->bytes / 2;
    return (double)rows * (double)op->weights->shape[1] * sizeof(float);        /* only the rows looked up */
}

Cost plan_op_cost(const PlanOp *op, int64_t rows, int64_t keys, int64_t memory_keys)
{
    double each = kernel_is_attention(op->kernel) ? op->flops * (double)keys_seen(op, keys, memory_keys) : op->flops;
    return (Cost){ each * (double)rows, op_weight_bytes(op, rows) };
}

Cost plan_cost(const Plan *p, ProgramKind program, int64_t rows, int64_t keys, int64_t memory_keys)
{
    Cost c = { 0, 0 };
    const PlanPart part = plan_part(p, program);
    for (int i = 0; i < part.runs; i++) {
        const PlanBlock *b = part.program->runs[i].block;
        for (int j = 0; j < b->op_count; j++) {
            const Cost once = plan_op_cost(&b->ops[j], rows, keys, memory_keys);
            const int layers = plan_part_layers(&part, i, j);
            c.flops += once.flops * layers;
            c.weight_bytes += once.weight_bytes * layers;
        }
    }
    return c;
}
