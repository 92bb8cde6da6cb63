/* plan_memory.c: where each buffer lies in a state.
 *
 * A state is a header, `slots` slots of caches, a scratch, and taps where they were asked for. In the scratch, what
 * outlives a block comes first; behind it every block places its own buffers, the largest first, each at the lowest
 * offset that is free in all the phases it lives through. A phase lasts from barrier to barrier. */
#include "plan.h"

#include <string.h>

enum { MAX_LOCAL = 4096 };

static bool meet(const Buffer *a, const Buffer *b)
{
    return a->first_phase <= b->last_phase && b->first_phase <= a->last_phase;
}

/* The lowest multiple of 64 at which `b` overlaps none of the placed buffers that it meets. */
static size_t lowest_free(const Buffer *b, Buffer *const *placed, int n, size_t from)
{
    size_t at = from;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < n; i++) {
            const Buffer *o = placed[i];
            if (!meet(b, o) || at >= o->offset + pad64(o->bytes) || o->offset >= at + pad64(b->bytes)) continue;
            at = o->offset + pad64(o->bytes);
            moved = true;
        }
    }
    return at;
}

static void sort_by_size(Buffer **b, int n)
{
    for (int i = 1; i < n; i++) {
        Buffer *x = b[i];
        int j = i;
        for (; j > 0 && b[j - 1]->bytes < x->bytes; j--) b[j] = b[j - 1];
        b[j] = x;
    }
}

static size_t place_block(PlanBlock *b, size_t from)
{
    Buffer *order[MAX_LOCAL];
    if (b->buffer_count > MAX_LOCAL) die("%s has too many buffers", b->block->name);
    if (!b->buffer_count) return from;
    memcpy(order, b->buffers, (size_t)b->buffer_count * sizeof *order);
    sort_by_size(order, b->buffer_count);
    size_t end = from;
    for (int i = 0; i < b->buffer_count; i++) {
        order[i]->offset = lowest_free(order[i], order, i, from);
        if (order[i]->offset + pad64(order[i]->bytes) > end) end = order[i]->offset + pad64(order[i]->bytes);
    }
    return end;
}

static size_t place_whole(Plan *p, Place place)
{
    size_t at = 0;
    for (int i = 0; i < p->buffer_count; i++) {
        Buffer *b = p->buffers[i];
        if (b->place != place) continue;
        b->offset = at;
        at += b->layers ? (size_t)b->layers * b->layer_stride : pad64(b->bytes);
    }
    return at;
}

void plan_memory(Plan *p)
{
    p->header_bytes = pad64(2 * sizeof(int32_t) * (size_t)p->options.slots);
    p->slot_bytes = place_whole(p, PLACE_SLOT);
    size_t whole = place_whole(p, PLACE_SCRATCH);
    p->scratch_bytes = whole;
    for (int i = 0; i < p->block_count; i++) {
        size_t end = place_block(p->blocks[i], whole);
        if (end > p->scratch_bytes) p->scratch_bytes = end;
    }
    p->tap_bytes = place_whole(p, PLACE_TAP);
    p->slots_offset = p->header_bytes;
    p->scratch_offset = p->slots_offset + (size_t)p->options.slots * p->slot_bytes;
    p->taps_offset = p->scratch_offset + p->scratch_bytes;
    p->state_bytes = p->taps_offset + p->tap_bytes;
}

size_t plan_address(const Plan *p, const Buffer *b)
{
    switch (b->place) {
    case PLACE_SLOT: return p->slots_offset + b->offset;
    case PLACE_TAP:  return p->taps_offset + b->offset;
    default:         return p->scratch_offset + b->offset;
    }
}

Buffer *plan_buffer(const Plan *p, const char *name)
{
    for (int i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i]->name, name) == 0) return p->buffers[i];
    return NULL;
}
