/* plan_memory.c: give each buffer an offset in a state.
 *
 * A state is a header with lengths and, for caches in f16, saturation flags; `slots` slots with
 * caches; a scratch; and taps if requested. In the scratch, buffers that outlive their block come
 * first. After them, each block places its own buffers, largest first, each at the lowest offset
 * that is free in all phases in which the buffer is in use. A phase lasts from barrier to barrier.
 * The lists of a call come last. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* The range and the phases of a buffer that already has an offset. */
typedef struct Placed { size_t from, to; int first_phase, last_phase; } Placed;

/* The lowest offset from `from` on at which `b` overlaps no placed buffer that is in use at the
 * same time. `placed` is sorted by offset. */
static size_t lowest_free(const Buffer *b, const Placed *placed, int n, size_t from)
{
    size_t at = from, bytes = pad64(b->bytes);
    for (int i = 0; i < n && placed[i].from < at + bytes; i++) {
        bool meet = placed[i].first_phase <= b->last_phase && b->first_phase <= placed[i].last_phase;
        if (meet && placed[i].to > at) at = placed[i].to;
    }
    return at;
}

static void insert(Placed *placed, int n, const Buffer *b)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (placed[middle].from <= b->offset) low = middle + 1;
        else high = middle;
    }
    memmove(placed + low + 1, placed + low, (size_t)(n - low) * sizeof *placed);
    placed[low] = (Placed){ b->offset, b->offset + pad64(b->bytes), b->first_phase, b->last_phase };
}

typedef struct Order { Buffer *buffer; int number; } Order;

/* Largest first; of equal sizes, the one created first. */
static int by_size(const void *a, const void *b)
{
    const Order *x = a, *y = b;
    if (x->buffer->bytes != y->buffer->bytes) return x->buffer->bytes > y->buffer->bytes ? -1 : 1;
    return x->number - y->number;
}

static size_t place_block(Arena *a, PlanBlock *b, size_t from)
{
    int n = b->buffer_count;
    Order *order = arena_array(a, (size_t)n + 1, sizeof *order);
    Placed *placed = arena_array(a, (size_t)n + 1, sizeof *placed);
    for (int i = 0; i < n; i++) order[i] = (Order){ b->buffers[i], i };
    qsort(order, (size_t)n, sizeof *order, by_size);
    size_t end = from;
    for (int i = 0; i < n; i++) {
        Buffer *x = order[i].buffer;
        x->offset = lowest_free(x, placed, i, from);
        insert(placed, i, x);
        if (x->offset + pad64(x->bytes) > end) end = x->offset + pad64(x->bytes);
    }
    for (int i = 0; i < b->view_count; i++) b->views[i]->offset = b->views[i]->parent->offset + (size_t)b->views[i]->column * sizeof(float);
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

void plan_memory(Arena *a, Plan *p)
{
    const Model *m = p->graph->model;
    const size_t lengths = (p->back ? 3 : 2) * sizeof(int32_t) * (size_t)p->options.slots;
    const bool half = m->has_decoder && m->kv_dtype == KV_DTYPES_F16;
    p->saturated_offset = half ? lengths : 0;
    p->header_bytes = pad64(lengths + (half ? sizeof(int32_t) * (size_t)p->options.max_threads : 0));
    p->slot_bytes = place_whole(p, PLACE_SLOT);
    size_t whole = place_whole(p, PLACE_SCRATCH);
    p->scratch_bytes = whole;
    for (int i = 0; i < p->block_count; i++) {
        size_t end = place_block(a, p->blocks[i], whole);
        if (end > p->scratch_bytes) p->scratch_bytes = end;
    }
    for (int i = 0; i < p->list_count; i++) {
        p->lists[i].offset = p->scratch_bytes;
        p->scratch_bytes += pad64(plan_list_bytes(&p->lists[i]));
    }
    p->tap_bytes = place_whole(p, PLACE_TAP);
    p->slots_offset = p->header_bytes;
    p->scratch_offset = p->slots_offset + (size_t)p->options.slots * p->slot_bytes;
    p->blocks_offset = p->scratch_offset + whole;
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
