/* plan_check.c: verify a Plan: buffers that are in use at the same time do not overlap; buffers,
 * views, lists and weights are aligned and within bounds; weights of joined linears are contiguous;
 * and the scratch of operations is large enough. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

static void check_inside(const Plan *p, const Buffer *b, size_t limit)
{
    size_t bytes = b->layers ? (size_t)b->layers * b->layer_stride : b->bytes;
    if (b->offset % 64 || b->layer_stride % 64) die("%s is not aligned", b->name);
    if (b->offset + bytes > limit) die("%s ends at %zu of %zu bytes", b->name, b->offset + bytes, limit);
    if (plan_address(p, b) + bytes > p->state_bytes) die("%s lies outside the state", b->name);
}

static size_t whole_bytes(const Buffer *b) { return b->layers ? (size_t)b->layers * b->layer_stride : b->bytes; }

/* Buffers in use at the same time, sorted by offset; no two of them overlap. */
typedef struct Live { const Buffer **list; int count; } Live;

static void add_live(Live *l, const Buffer *b)
{
    int low = 0, high = l->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (l->list[middle]->offset <= b->offset) low = middle + 1;
        else high = middle;
    }
    const Buffer *before = low ? l->list[low - 1] : NULL, *behind = low < l->count ? l->list[low] : NULL;
    if (before && before->offset + whole_bytes(before) > b->offset) die("%s and %s overlap", b->name, before->name);
    if (behind && b->offset + whole_bytes(b) > behind->offset) die("%s and %s overlap", b->name, behind->name);
    memmove(l->list + low + 1, l->list + low, (size_t)(l->count - low) * sizeof *l->list);
    l->list[low] = b;
    l->count++;
}

static void end_before(Live *l, int phase)
{
    int kept = 0;
    for (int i = 0; i < l->count; i++)
        if (!l->list[i]->block || l->list[i]->last_phase >= phase) l->list[kept++] = l->list[i];
    l->count = kept;
}

static void check_whole(Arena *a, const Plan *p)
{
    const size_t limit[] = { [PLACE_SCRATCH] = p->scratch_bytes, [PLACE_SLOT] = p->slot_bytes, [PLACE_TAP] = p->tap_bytes };
    for (Place place = PLACE_SCRATCH; place <= PLACE_TAP; place++) {
        Live live = { arena_array(a, (size_t)p->buffer_count + 1, sizeof *live.list), 0 };
        for (int i = 0; i < p->buffer_count; i++) {
            if (p->buffers[i]->place != place) continue;
            check_inside(p, p->buffers[i], limit[place]);
            add_live(&live, p->buffers[i]);
        }
    }
}

static int by_first_phase(const void *a, const void *b)
{
    const Buffer *x = *(const Buffer *const *)a, *y = *(const Buffer *const *)b;
    return x->first_phase - y->first_phase;
}

/* Check the buffers of a block, phase by phase. Those that outlive it are in use in all phases. */
static void check_local(Arena *a, const Plan *p, const PlanBlock *block)
{
    const int n = block->buffer_count;
    const Buffer **order = arena_array(a, (size_t)n + 1, sizeof *order);
    Live live = { arena_array(a, (size_t)(n + p->buffer_count) + 1, sizeof *live.list), 0 };
    for (int i = 0; i < p->buffer_count; i++)
        if (p->buffers[i]->place == PLACE_SCRATCH) add_live(&live, p->buffers[i]);
    for (int i = 0; i < n; i++) {
        if (block->buffers[i]->first_phase < 0) die("%s of %s is never used", block->buffers[i]->name, block->block->name);
        check_inside(p, block->buffers[i], p->scratch_bytes);
        order[i] = block->buffers[i];
    }
    qsort(order, (size_t)n, sizeof *order, by_first_phase);
    for (int i = 0; i < n; i++) {
        if (i && order[i]->first_phase != order[i - 1]->first_phase) end_before(&live, order[i]->first_phase);
        add_live(&live, order[i]);
    }
}

/* Each view is inside its parent, and no two views of a parent share a column. */
static void check_views(const PlanBlock *block)
{
    for (int i = 0; i < block->view_count; i++) {
        const Buffer *v = block->views[i];
        if (v->offset % 64 || v->stride != v->parent->stride) die("%s is not a view of %s", v->name, v->parent->name);
        if (v->column + pad16(v->width) > v->parent->stride) die("%s ends past the end of %s", v->name, v->parent->name);
        for (int j = 0; j < i; j++) {
            const Buffer *u = block->views[j];
            const bool apart = u->column + pad16(u->width) <= v->column || v->column + pad16(v->width) <= u->column;
            if (u->parent == v->parent && !apart) die("%s and %s overlap", v->name, u->name);
        }
    }
}

/* A kernel reads the weights of joined linears as one matrix, so they must be contiguous. */
static void check_joined(const PlanOp *op)
{
    for (int i = 1; i < op->joined_count; i++) {
        const Packed *k = op->joined[i], *before = op->joined[i - 1];
        if (k->offset != before->offset + before->bytes || k->stride != before->stride || k->shape[1] != before->shape[1])
            die("%s does not directly follow %s", k->name, before->name);
    }
}

/* Each thread needs room for the scores of all keys, for all rows that a kernel takes at once. */
static void check_scores(const Plan *p, const PlanOp *op)
{
    const Buffer *s = op->scratch;
    if (!s || !kernel_is_attention(op->kernel)) return;
    const int64_t rows = plan_score_rows(op->node);
    const int64_t stride = plan_score_stride(op->in[1]);
    const size_t bytes = (size_t)(p->options.max_threads * rows * stride) * sizeof(float);
    if (s->rows < rows || s->stride < stride || s->bytes < bytes)
        die("%s has no room for the scores of %lld rows on %d threads", s->name, (long long)rows,
            p->options.max_threads);
}

/* A linear that rounds its rows needs the scratch that plan_rounded_size gives. */
static void check_rounded(const Plan *p, const PlanBlock *b, const PlanOp *op)
{
    if (p->options.target != TARGET_PANELS || !plan_op_rounds(op)) return;
    const Buffer *s = op->scratch;
    const RoundedSize size = plan_rounded_size(p, b, op);
    if (!s) die("%s has no room for rounded rows", op->out[0]->name);
    if (p->few_rows > PLAN_FEW_ROWS) die("%d rows are not few", p->few_rows);
    const size_t bytes = (size_t)(size.pieces * size.rows * size.stride) * sizeof(float);
    if (s->heads < size.pieces || s->rows < size.rows || s->stride < size.stride || s->bytes < bytes)
        die("%s has no room for %lld rounded rows on %d threads", s->name, (long long)size.rows, p->options.max_threads);
}

/* Only what each thread computes is written to its copy. */
static void check_copies(const PlanOp *op)
{
    for (int i = 0; i < 3; i++)
        if (op->out[i] && (op->out[i]->layout == LAYOUT_COPIES) != (op->split == SPLIT_EACH_THREAD))
            die("%s is not divided as its result is", op->result->name);
}

/* Kernels for attention read keys and values in panels. */
static void check_panels(const Plan *p, const PlanOp *op)
{
    if (p->options.target != TARGET_PANELS || !kernel_is_attention(op->kernel)) return;
    if (op->in[1]->layout != LAYOUT_KEYS || op->in[2]->layout != LAYOUT_VALUES)
        die("%s has keys or values that are not in panels", op->result->name);
}

static size_t larger_end(size_t at, const Buffer *b)
{
    const size_t end = b->offset + whole_bytes(b);
    return end > at ? end : at;
}

/* Lists come after all buffers of the scratch. */
static void check_lists(const Plan *p)
{
    size_t at = 0;
    for (int i = 0; i < p->buffer_count; i++)
        if (p->buffers[i]->place == PLACE_SCRATCH) at = larger_end(at, p->buffers[i]);
    for (int i = 0; i < p->block_count; i++)
        for (int k = 0; k < p->blocks[i]->buffer_count; k++) at = larger_end(at, p->blocks[i]->buffers[k]);
    for (int i = 0; i < p->list_count; i++) {
        const CallList *l = &p->lists[i];
        if (l->offset < at || l->offset % 64) die("%s overlaps what comes before it", l->name);
        at = l->offset + plan_list_bytes(l);
    }
    if (p->list_count && at > p->scratch_bytes) die("lists end past the end of the scratch");
}

static void check_packed(const Plan *p)
{
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *k = p->packed[i];
        size_t end = k->offset + (k->layers ? (size_t)(k->layers - 1) * k->stride : 0) + k->bytes;
        if (k->offset % 64 || k->bytes % 64 || k->stride % 64) die("%s is not aligned", k->name);
        if (end > p->weights_bytes) die("%s lies outside the weights", k->name);
    }
}

void plan_check(const Plan *p)
{
    Arena *a = arena_new();
    check_whole(a, p);
    check_packed(p);
    for (int i = 0; i < p->block_count; i++) {
        check_local(a, p, p->blocks[i]);
        check_views(p->blocks[i]);
        for (int j = 0; j < p->blocks[i]->op_count; j++) {
            check_joined(&p->blocks[i]->ops[j]);
            check_scores(p, &p->blocks[i]->ops[j]);
            check_rounded(p, p->blocks[i], &p->blocks[i]->ops[j]);
            check_copies(&p->blocks[i]->ops[j]);
            check_panels(p, &p->blocks[i]->ops[j]);
        }
    }
    check_lists(p);
    arena_free(a);
}
