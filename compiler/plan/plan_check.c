/* plan_check.c: the verifier of this floor: no two buffers in use together overlap, nothing lies outside the state,
 * everything is aligned, no weights overlap, and every operation has a barrier where lanes share. */
#include "plan.h"

static void check_inside(const Plan *p, const Buffer *b, size_t limit)
{
    size_t bytes = b->layers ? (size_t)b->layers * b->layer_stride : b->bytes;
    if (b->offset % 64 || b->layer_stride % 64) die("%s is not aligned", b->name);
    if (b->offset + bytes > limit) die("%s ends at %zu of %zu bytes", b->name, b->offset + bytes, limit);
    if (plan_address(p, b) + bytes > p->state_bytes) die("%s lies outside the state", b->name);
}

static void check_apart(const Buffer *a, const Buffer *b, size_t a_bytes, size_t b_bytes)
{
    if (a->offset < b->offset + b_bytes && b->offset < a->offset + a_bytes) die("%s and %s overlap", a->name, b->name);
}

static size_t whole_bytes(const Buffer *b) { return b->layers ? (size_t)b->layers * b->layer_stride : b->bytes; }

static void check_whole(const Plan *p)
{
    const size_t limit[] = { [PLACE_SCRATCH] = p->scratch_bytes, [PLACE_SLOT] = p->slot_bytes, [PLACE_TAP] = p->tap_bytes };
    for (int i = 0; i < p->buffer_count; i++) {
        const Buffer *a = p->buffers[i];
        check_inside(p, a, limit[a->place]);
        for (int j = 0; j < i; j++)
            if (p->buffers[j]->place == a->place) check_apart(a, p->buffers[j], whole_bytes(a), whole_bytes(p->buffers[j]));
    }
}

static void check_local(const Plan *p, const PlanBlock *block)
{
    for (int i = 0; i < block->buffer_count; i++) {
        const Buffer *a = block->buffers[i];
        if (a->first_phase < 0) die("%s of %s is never used", a->name, block->block->name);
        check_inside(p, a, p->scratch_bytes);
        for (int j = 0; j < i; j++) {
            const Buffer *b = block->buffers[j];
            if (a->first_phase <= b->last_phase && b->first_phase <= a->last_phase) check_apart(a, b, a->bytes, b->bytes);
        }
        for (int j = 0; j < p->buffer_count; j++)
            if (p->buffers[j]->place == PLACE_SCRATCH) check_apart(a, p->buffers[j], a->bytes, p->buffers[j]->bytes);
    }
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
    check_whole(p);
    check_packed(p);
    for (int i = 0; i < p->block_count; i++) check_local(p, p->blocks[i]);
}
