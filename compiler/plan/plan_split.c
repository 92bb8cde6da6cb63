/* plan_split.c: where lanes must meet.
 *
 * A lane may go on without waiting as long as it touches only what it wrote itself, or what nobody writes. So for
 * every buffer the accesses since the last barrier are kept, each with the way it was shared; an access shared in
 * another way, one of the two a write, needs a barrier before it. Every block ends with one (see the emitter), so
 * nothing is carried over from block to block, and a buffer lives in whole phases: no lane can be ahead by more. */
#include "plan.h"

#include <string.h>

typedef struct Access { const Buffer *buffer; Split split; int parts; bool all, write; } Access;

enum { MAX_ACCESSES = 256 };
typedef struct Phase { Access seen[MAX_ACCESSES]; int count; } Phase;

/* One buffer, or columns of it that both have. */
static bool meet(const Buffer *a, const Buffer *b)
{
    if (a == b) return true;
    if ((a->whole ? a->whole : a) != (b->whole ? b->whole : b)) return false;
    return a->column < b->column + b->width && b->column < a->column + a->width;
}

static bool conflict(const Access *a, const Access *b)
{
    if (!meet(a->buffer, b->buffer) || (!a->write && !b->write)) return false;
    const bool moved = a->buffer != b->buffer && a->split != SPLIT_ROWS;         /* other columns of a view than of the whole */
    return a->all || b->all || moved || a->split != b->split || a->parts != b->parts;
}

enum { OP_ACCESSES = NODE_INPUTS + 3 };

/* Every access of one operation. Reading `all` means: also what other lanes wrote. */
static int accesses(const PlanOp *op, Access out[OP_ACCESSES])
{
    int n = 0;
    bool panels = op->split == SPLIT_COLUMNS;
    for (int i = 0; i < NODE_INPUTS; i++) {
        const Buffer *b = op->in[i];
        if (!b || b->layout == LAYOUT_INTS) continue;
        bool whole = kernel_is_linear(op->kernel) && i == 0 && panels;                             /* every output needs every input */
        bool cache = kernel_is_attention(op->kernel) && (i == 1 || i == 2);
        if (cache && op->split == SPLIT_ROWS) whole = true;                             /* every row needs every key */
        whole |= op->kernel == KERNEL_CUSTOM;                                           /* it may read what it likes */
        out[n++] = (Access){ b, op->split, op->parts, whole, false };
    }
    for (int i = 0; i < 3; i++)
        if (op->out[i]) out[n++] = (Access){ op->out[i], op->split, op->parts, false, true };
    return n;
}

static void touch(Buffer *b, int phase)
{
    if (!b || !b->block) return;
    if (b->whole) b = b->whole;
    if (b->first_phase < 0) b->first_phase = phase;
    b->last_phase = phase;
}

static void set_rows(PlanOp *op)
{
    bool store = kernel_is_store(op->kernel);
    if (op->split == SPLIT_ROWS) op->parts = (int)(store ? op->in[1]->rows : op->result->dim[op->result->rank == 3].bound);
}

static void split_block(PlanBlock *b)
{
    Phase phase = { .count = 0 };
    int number = 0;
    for (int i = 0; i < b->op_count; i++) {
        PlanOp *op = &b->ops[i];
        set_rows(op);
        Access mine[OP_ACCESSES];
        int n = accesses(op, mine);
        for (int j = 0; j < n && !op->barrier; j++)
            for (int k = 0; k < phase.count && !op->barrier; k++) op->barrier = conflict(&mine[j], &phase.seen[k]);
        op->barrier |= phase.count + n > MAX_ACCESSES;      /* a full list begins a new phase */
        if (op->barrier) {
            phase.count = 0;
            number++;
        }
        memcpy(phase.seen + phase.count, mine, (size_t)n * sizeof *mine);
        phase.count += n;
        op->phase = number;
        for (int j = 0; j < NODE_INPUTS; j++) touch(op->in[j], number);
        for (int j = 0; j < 3; j++) touch(op->out[j], number);
        touch(op->scratch, number);
    }
    b->phases = number + 1;
}

void plan_split(Plan *p)
{
    for (int i = 0; i < p->block_count; i++) split_block(p->blocks[i]);
}
