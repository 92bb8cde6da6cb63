/* plan_team.c: estimate the work of a call, from which rt_team_weigh finds out whether threads are
 * worth their barriers.
 *
 * The estimate is for a fast processor: one thread of a Zen 4 at 3.7 GHz with AVX-512, whose
 * caches hold the weights. On a slower one the work takes longer, and threads save more than
 * estimated. */
#include "plan.h"

static const double FLOPS_NS = 110;         /* FLOPs per ns of a matrix product with many rows */
static const double WHOLE_NS = 330;         /* the same with quantized weights */
static const double ONE_NS = 15;            /* FLOPs per ns of attention with one row */
static const double ROWS_NS = 60;           /* and with many rows */
static const double BYTES_NS = 90;          /* bytes of weights read per ns */
static const double CALL_NS = 45;           /* ns of an operation that does nothing */

static double most(double a, double b) { return a > b ? a : b; }

/* The number of positions before a decoder's rows: few, so that the estimate is low. */
static int64_t positions_before(const Plan *p)
{
    enum { SHARE = 8, MOST = 64 };
    const int64_t n = p->graph->model->max_target / SHARE;
    return n < MOST ? n : MOST;
}

static double rate_of(const PlanOp *op, int64_t rows)
{
    if (kernel_is_attention(op->kernel)) return rows == 1 ? ONE_NS : ROWS_NS;
    return plan_op_rounds(op) ? WHOLE_NS : FLOPS_NS;
}

static double call_ns(const Plan *p, const PlanPart *part, int from, int64_t rows)
{
    double ns = 0;
    for (int i = from; i < part->runs; i++) {
        const PlanBlock *b = part->program->runs[i].block;
        const int64_t n = b->count == COUNT_CONSTANT ? 1 : rows;
        for (int j = 0; j < b->op_count; j++) {
            const int64_t keys = b->count == COUNT_ROWS ? n + positions_before(p) : n;
            const Cost c = plan_op_cost(&b->ops[j], n, keys, n);
            ns += plan_part_layers(part, i, j) * (CALL_NS + most(c.flops / rate_of(&b->ops[j], n), c.weight_bytes / BYTES_NS));
        }
    }
    return ns;
}

/* The barriers of a call, including those that only calls of few rows need. Each block ends with
 * one, for each of its layers. */
static int barriers(const Plan *p, const PlanPart *part, int from)
{
    int n = 0;
    for (int i = from; i < part->runs; i++) {
        const PlanRun *run = &part->program->runs[i];
        const bool few = p->few_rows && run->block->rows > 1 && run->block->count == COUNT_ROWS;
        for (int j = 0; j < run->block->op_count; j++) {
            const PlanOp *op = &run->block->ops[j];
            if (op->barrier || (few && op->barrier_few)) n += plan_part_layers(part, i, j);
        }
        n += run->count;
    }
    return n;
}

TeamWork plan_team_work(const Plan *p, ProgramKind kind, int from)
{
    enum { MANY = 16 };
    const PlanPart part = plan_part(p, kind);
    if (!part.program) return (TeamWork){ 0, 0, 0, 0 };
    const double first = call_ns(p, &part, from, 1), many = call_ns(p, &part, from, MANY);
    const PlanPart step = plan_part(p, PROGRAM_STEP);
    const int n = barriers(p, &part, from), one = kind == PROGRAM_DECODE && step.program ? barriers(p, &step, from) : n;
    return (TeamWork){ one > n ? one : n, one, first, (many - first) / (MANY - 1) };
}
