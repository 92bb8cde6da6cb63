/* plan_split.c: find where barriers are needed.
 *
 * A thread need not wait while it accesses only data that it wrote itself or that no thread writes.
 * So the accesses since the last barrier are recorded with the way threads divided them. An access
 * that is divided differently needs a barrier before it, if it or the earlier one is a write. No
 * thread accesses another one's copy of a result. Each block ends with a barrier (see the emitter),
 * so accesses are recorded per block. A buffer is in use for whole phases, since threads are never
 * in different phases. */
#include "plan.h"

#include <string.h>

typedef struct Access { const Buffer *buffer; Split split; int parts; bool all, write; } Access;

enum { MAX_ACCESSES = 256 };
typedef struct Phase { Access seen[MAX_ACCESSES]; int count; } Phase;

/* True if the two are the same buffer, or share columns of the same parent. */
static bool meet(const Buffer *a, const Buffer *b)
{
    if (a == b) return true;
    if ((a->parent ? a->parent : a) != (b->parent ? b->parent : b)) return false;
    return a->column < b->column + b->width && b->column < a->column + a->width;
}

static bool conflict(const Access *a, const Access *b)
{
    if (!meet(a->buffer, b->buffer) || (!a->write && !b->write)) return false;
    /* part i of a view and part i of its parent may be different columns */
    const bool moved = a->buffer != b->buffer && a->split != SPLIT_ROWS;
    return a->all || b->all || moved || a->split != b->split || a->parts != b->parts;
}

enum { OP_ACCESSES = NODE_INPUTS + 3 };

/* List the accesses of an operation; returns how many there are. Access.all: a thread also reads
 * what others wrote. few: in a call of few rows, where threads divide linears by panels. */
static int accesses(const PlanOp *op, bool few, Access out[OP_ACCESSES])
{
    int n = 0;
    const bool by_panels = few && op->split == SPLIT_ROWS && kernel_is_linear(op->kernel), panels = by_panels || op->split == SPLIT_COLUMNS;
    const Split split = by_panels ? SPLIT_COLUMNS : op->split;
    const int parts = by_panels ? (int)((op->out[0]->width + 15) / 16) : op->parts;
    for (int i = 0; i < NODE_INPUTS; i++) {
        const Buffer *b = op->in[i];
        if (!b || b->layout == LAYOUT_INTS || b->layout == LAYOUT_COPIES) continue;
        bool whole = kernel_is_linear(op->kernel) && i == 0 && panels;  /* each output needs x */
        bool cache = kernel_is_attention(op->kernel) && (i == 1 || i == 2);
        if (cache && split == SPLIT_ROWS) whole = true;     /* every row needs every key */
        whole |= op->kernel == KERNEL_CUSTOM;               /* it may read anything */
        out[n++] = (Access){ b, split, parts, whole, false };
    }
    for (int i = 0; i < 3; i++)
        if (op->out[i] && op->out[i]->layout != LAYOUT_COPIES) out[n++] = (Access){ op->out[i], split, parts, false, true };
    return n;
}

/* True if a barrier is needed between the accesses of a phase and these. */
static bool must_meet(const Phase *phase, const Access *mine, int n)
{
    bool must = phase->count + n > MAX_ACCESSES;            /* a full list begins a new phase */
    for (int j = 0; j < n && !must; j++)
        for (int k = 0; k < phase->count && !must; k++) must = conflict(&mine[j], &phase->seen[k]);
    return must;
}

static void add(Phase *phase, bool anew, const Access *mine, int n)
{
    if (anew) phase->count = 0;
    memcpy(phase->seen + phase->count, mine, (size_t)n * sizeof *mine);
    phase->count += n;
}

static void touch(Buffer *b, int phase)
{
    if (!b || !b->block) return;
    if (b->parent) b = b->parent;
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
        int n = accesses(op, false, mine);
        op->barrier = must_meet(&phase, mine, n);
        add(&phase, op->barrier, mine, n);
        op->phase = number += op->barrier;
        for (int j = 0; j < NODE_INPUTS; j++) touch(op->in[j], number);
        for (int j = 0; j < 3; j++) touch(op->out[j], number);
        touch(op->scratch, number);
    }
    b->phases = number + 1;
}

/* Find the barriers that only calls of few rows need. Phases and offsets do not change: with more
 * barriers, threads are only closer together. */
static void split_few(PlanBlock *b)
{
    Phase phase = { .count = 0 };
    for (int i = 0; i < b->op_count; i++) {
        PlanOp *op = &b->ops[i];
        Access mine[OP_ACCESSES];
        const int n = accesses(op, true, mine);
        op->barrier_few = !op->barrier && must_meet(&phase, mine, n);
        add(&phase, op->barrier || op->barrier_few, mine, n);
    }
}

void plan_split(Plan *p)
{
    for (int i = 0; i < p->block_count; i++) {
        split_block(p->blocks[i]);
        split_few(p->blocks[i]);
    }
}
