/* plan_rounded.c: scratch for int8 and int4 linears, which round their rows of x first. */
#include "plan_lower.h"

/* Either each thread has its own piece, or all threads share one piece, divided the same way as the
 * rows: whichever needs less memory. A shared piece needs PLAN_FEW_ROWS rows per thread if the
 * linear may be divided by panels, because each thread then rounds all rows. In a block of one row,
 * each thread rounds that row. */
RoundedSize plan_rounded_size(const Plan *p, const PlanBlock *b, const PlanOp *op)
{
    const int in = (int)op->weights->tensor[0]->dim[1].bound, threads = p->options.max_threads;
    const int64_t rows = op->split == SPLIT_ROWS ? op->in[0]->heads * op->in[0]->rows : 1;
    const int64_t few = b->count == COUNT_ROWS ? PLAN_FEW_ROWS : 0;
    const int64_t each = rt_rounded_rows(in, (int)rows), all = rows > threads * few ? rows : threads * few;
    const bool apart = op->split != SPLIT_ROWS || threads * each <= all;
    return (RoundedSize){ apart ? threads : 1, apart ? each : all, rt_rounded_stride(in) };
}

bool plan_op_rounds(const PlanOp *op)
{
    return kernel_is_linear(op->kernel) && format_is_quantised(op->weights->format);
}

static void add_scratch(Lower *w, PlanOp *op)
{
    const char *name = arena_format(w->arena, "%s_rounded", op->out[0]->variable);
    Buffer *s = lower_new_buffer(w, lower_name(w, name), op->result, PLACE_SCRATCH, LAYOUT_THREADS);
    const RoundedSize size = plan_rounded_size(w->plan, w->block, op);
    s->heads = size.pieces;
    s->rows = size.rows;
    s->width = s->stride = size.stride;
    s->bytes = (size_t)(s->heads * s->rows * s->stride) * sizeof(float);
    op->scratch = lower_local(w, s);
}

void lower_rounded(Lower *w)
{
    if (w->plan->options.target != TARGET_PANELS) return;
    for (int i = 0; i < w->block->op_count; i++)
        if (plan_op_rounds(&w->block->ops[i])) add_scratch(w, &w->block->ops[i]);
}
