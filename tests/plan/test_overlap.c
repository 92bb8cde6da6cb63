/* test_overlap.c: No two tensors that are live together share a byte of the state, in many models.
 *
 * Lifetimes and sizes are computed again here, from the operations and the tensors; only the
 * strides of rows and the sizes of the threads' scratch are the plan's. A buffer is live from the
 * first phase that touches it to the last one that does; barriers separate phases. Buffers that
 * outlive a block are always live. */
#include "plan_test.h"

#include <string.h>

typedef struct Interval { const char *name; size_t begin, end; const PlanBlock *block; int first, last; } Interval;
typedef struct Intervals { Interval list[8192]; int count; } Intervals;

static Intervals all;

static size_t bytes_needed(const Plan *p, const Buffer *b)
{
    const Tensor *t = b->tensor;
    const int64_t width = t->dim[t->rank - 1].bound, copies = b->layout == LAYOUT_COPIES ? p->options.max_threads : 1;
    switch (b->layout) {
    case LAYOUT_INTS:   return (size_t)t->dim[0].bound * 4;
    case LAYOUT_KEYS:   return (size_t)(pad16(t->dim[0].bound) * width) * 4;
    case LAYOUT_VALUES: return (size_t)(pad16(t->dim[0].bound) * pad16(width / b->heads) * b->heads) * 4;
    case LAYOUT_THREADS:  return b->bytes;
    case LAYOUT_COPIES:
    case LAYOUT_ROWS:
        if (b->stride < pad16(width) || b->stride % 16)
            fail_msg("%s: stride %lld for a width of %lld", b->name, (long long)b->stride, (long long)width);
        return (size_t)(copies * (t->rank == 3 ? t->dim[0].bound : 1) * t->dim[t->rank == 3].bound * b->stride) * 4;
    }
    return 0;
}

static void add(const char *name, size_t begin, size_t bytes, const PlanBlock *block, int first, int last)
{
    assert_true(all.count < 8192);
    all.list[all.count++] = (Interval){ name, begin, begin + bytes, block, first, last };
}

static void add_whole(const Plan *p, const Buffer *b)
{
    const size_t bytes = bytes_needed(p, b);
    const size_t start[] = { [PLACE_SCRATCH] = p->scratch_offset, [PLACE_SLOT] = p->slots_offset, [PLACE_TAP] = p->taps_offset };
    const int slots = b->place == PLACE_SLOT ? p->options.slots : 1, layers = b->layers ? b->layers : 1;
    for (int s = 0; s < slots; s++)
        for (int l = 0; l < layers; l++)
            add(b->name, start[b->place] + (size_t)s * p->slot_bytes + b->offset + (size_t)l * b->layer_stride, bytes, NULL, 0, 0);
}

static bool touches(const PlanOp *op, const Buffer *b)
{
    bool found = op->scratch == b;
    for (int i = 0; i < 5; i++) found |= op->in[i] == b || (op->in[i] && op->in[i]->parent == b);
    for (int i = 0; i < 3; i++) found |= op->out[i] == b || (op->out[i] && op->out[i]->parent == b);
    return found;
}

static void add_local(const Plan *p, const PlanBlock *block, const Buffer *b)
{
    int first = -1, last = -1, phase = 0;
    for (int i = 0; i < block->op_count; i++) {
        phase += block->ops[i].barrier;
        if (!touches(&block->ops[i], b)) continue;
        if (first < 0) first = phase;
        last = phase;
    }
    if (first < 0) fail_msg("%s is never used", b->name);
    add(b->name, p->scratch_offset + b->offset, bytes_needed(p, b), block, first, last);
}

static void collect(const Plan *p)
{
    all.count = 0;
    add("header", 0, (size_t)p->options.slots * 8, NULL, 0, 0);
    for (int i = 0; i < p->buffer_count; i++) add_whole(p, p->buffers[i]);
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->buffer_count; j++) add_local(p, p->blocks[i], p->blocks[i]->buffers[j]);
}

static bool together(const Interval *a, const Interval *b)
{
    if (!a->block || !b->block) return true;
    return a->block == b->block && a->first <= b->last && b->first <= a->last;
}

/* The first fault, or NULL. */
static const char *fault(const Plan *p, Arena *arena)
{
    collect(p);
    for (int i = 0; i < all.count; i++) {
        const Interval *a = &all.list[i];
        if (a->end > p->state_bytes) return arena_format(arena, "%s ends at %zu of %zu", a->name, a->end, p->state_bytes);
        if (a->begin % 64) return arena_format(arena, "%s is misaligned", a->name);
        for (int j = 0; j < i; j++) {
            const Interval *b = &all.list[j];
            if (together(a, b) && a->begin < b->end && b->begin < a->end) return arena_format(arena, "%s and %s overlap", a->name, b->name);
        }
    }
    return NULL;
}

static void check_spec(const char *spec, Random *r)
{
    Planned o = planned_open(spec);
    for (int i = 0; i < 3; i++) {
        const PlanTarget target = i == 2 ? TARGET_ROW_MAJOR : TARGET_PANELS;
        const Plan *p = planned_make(&o, target, i == 1, draw(r, 1, 3));
        const char *found = fault(p, o.arena);
        if (found) fail_msg("%s; taps %d, target %d\n%s", found, i == 1, (int)target, spec);
    }
    planned_close(&o);
}

enum { SPECS = 300 };

static void what_lives_together_lies_apart(void **state)
{
    (void)state;
    Random r = { 20 };
    Arena *a = arena_new();
    for (int i = 0; i < SPECS; i++) check_spec(random_spec(a, &r, i), &r);
    arena_free(a);
}

static void graphs_lie_apart_too(void **state)
{
    (void)state;
    Random r = { 21 };
    check_spec("specs/self_attention.lua", &r);
    check_spec("tests/specs/two_attentions.lua", &r);
}

/* The check finds a buffer that was moved onto another live one. */
static void the_check_sees_an_overlap(void **state)
{
    (void)state;
    Planned o = planned_open("tests/goldens/dv_ne_dk.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 2);
    assert_null(fault(p, o.arena));
    int found = 0;
    for (int i = 0; i < p->block_count; i++)
        for (int j = 1; j < p->blocks[i]->buffer_count; j++) {
            Buffer *b = p->blocks[i]->buffers[j], *before = p->blocks[i]->buffers[j - 1];
            size_t offset = b->offset;
            b->offset = before->offset;
            found += fault(p, o.arena) != NULL;
            b->offset = offset;
        }
    assert_true(found > 5);
    assert_null(fault(p, o.arena));
    p->slot_bytes -= 64;
    assert_non_null(fault(p, o.arena));
    planned_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lives_together_lies_apart),
        cmocka_unit_test(graphs_lie_apart_too),
        cmocka_unit_test(the_check_sees_an_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
