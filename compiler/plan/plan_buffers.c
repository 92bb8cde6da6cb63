/* plan_buffers.c: create the buffers of tensors for the lowering pass, and compute their sizes. */
#include "plan_lower.h"

/* The capacity of the array is a power of two, so it is full when `count` is 0 or a power of
 * two. */
void *lower_grow(Lower *w, void *array, int count, size_t size)
{
    if (count & (count - 1)) return array;
    return arena_grow(w->arena, array, (size_t)count * size, (count ? 2 * (size_t)count : 1) * size);
}

/* The name of a tensor's variable in the C function of the block. */
static const char *variable_of(Lower *w, const Tensor *t)
{
    const Buffer *b = w->buffer_of[t->id];
    return b ? b->variable : lower_name(w, lower_words(w, t));
}

Buffer *lower_new_buffer(Lower *w, const char *name, const Tensor *t, Place place, Layout layout)
{
    Buffer *b = arena_alloc(w->arena, sizeof *b);
    *b = (Buffer){ .name = name, .variable = name, .tensor = t, .place = place, .layout = layout, .heads = 1, .first_phase = -1, .last_phase = -1 };
    return b;
}

Buffer *lower_whole(Lower *w, Buffer *b)
{
    Plan *p = w->plan;
    b->block = NULL;
    lower_take_name(w, b->name);
    p->buffers = lower_grow(w, p->buffers, p->buffer_count, sizeof *p->buffers);
    p->buffers[p->buffer_count++] = b;
    return b;
}

Buffer *lower_local(Lower *w, Buffer *b)
{
    PlanBlock *block = w->block;
    b->block = block;
    lower_take_name(w, arena_format(w->arena, "%s_%s", block->block->name, b->name));
    block->buffers = lower_grow(w, block->buffers, block->buffer_count, sizeof *block->buffers);
    block->buffers[block->buffer_count++] = b;
    return b;
}

/* Rows of f32, each padded to a multiple of 16. With a stride that is a multiple of 2 KB, a tile of
 * fourteen rows would share one or two sets of the L1 cache; avoiding that makes products with 512
 * inputs 3% faster, and those with 2048 inputs 10%. */
static void size_rows(Buffer *b, int64_t rows, int64_t width)
{
    b->rows = rows;
    b->width = width;
    b->stride = pad16(width);
    if (rows > 1 && b->stride % 512 == 0) b->stride += 16;
    b->bytes = (size_t)(b->heads * b->rows * b->stride) * sizeof(float);
}

void lower_size_cache(Buffer *b, int64_t heads, int64_t capacity, int64_t width)
{
    b->heads = heads;
    b->rows = pad16(capacity);
    b->width = width;
    b->stride = b->layout == LAYOUT_KEYS ? 16 : b->rows;
    const int64_t stored = b->layout == LAYOUT_KEYS ? width : pad16(width);
    b->bytes = (size_t)(heads * b->rows) * ((size_t)stored * buffer_element_bytes(b) + buffer_scale_bytes(b));
}

static void size_ints(Buffer *b, int64_t count)
{
    b->rows = count;
    b->width = 1;
    b->stride = 1;
    b->bytes = (size_t)count * sizeof(int32_t);
}

Buffer *lower_rows_buffer(Lower *w, const Tensor *t)
{
    Buffer *b = lower_new_buffer(w, variable_of(w, t), t, PLACE_SCRATCH,
                                 t->integer ? LAYOUT_INTS : LAYOUT_ROWS);
    if (t->integer) size_ints(b, t->dim[0].bound);
    else if (t->rank == 3) {
        b->heads = t->dim[0].bound;
        size_rows(b, t->dim[1].bound, t->dim[2].bound);
    } else size_rows(b, t->dim[0].bound, t->dim[1].bound);
    return b;
}

Buffer *lower_buffer(Lower *w, const Tensor *t)
{
    Buffer **slot = &w->buffer_of[t->id];
    if (*slot) return *slot;
    if (t->alias_of) {                  /* it shares that tensor's buffer */
        const Tensor *home = t->alias_of;
        while (home->alias_of) home = home->alias_of;
        if (!w->buffer_of[home->id]) w->buffer_of[home->id] = lower_whole(w, lower_rows_buffer(w, home));
        return *slot = w->buffer_of[home->id];
    }
    Buffer *b = lower_rows_buffer(w, t);
    if (t->kind == TENSOR_INPUT) lower_whole(w, b);
    else if (t->kind == TENSOR_STATE) {
        b->place = PLACE_SLOT;
        b->layers = t->layers;
        b->layer_stride = pad64(b->bytes);
        b->name = arena_format(w->arena, "%s_%s", w->block->block->name, b->name);
        lower_whole(w, b);
    } else if (t->output || t->holds) lower_whole(w, b);
    else lower_local(w, b);
    return *slot = b;
}

Buffer *lower_copies(Lower *w, const Tensor *t)
{
    Buffer *b = lower_rows_buffer(w, t);
    b->layout = LAYOUT_COPIES;
    b->heads = w->plan->options.max_threads;
    b->bytes *= (size_t)b->heads;
    return w->buffer_of[t->id] = lower_local(w, b);
}

Buffer *lower_whole_of_views(Lower *w, const Tensor *all)
{
    Buffer *b = lower_new_buffer(w, lower_name(w, lower_words(w, all)), all, PLACE_SCRATCH, LAYOUT_ROWS);
    size_rows(b, all->dim[0].bound, all->dim[1].bound);
    return lower_local(w, b);
}

void lower_view(Lower *w, const Tensor *t, Buffer *parent, int64_t column)
{
    PlanBlock *block = w->block;
    Buffer *b = lower_new_buffer(w, variable_of(w, t), t, PLACE_SCRATCH, LAYOUT_ROWS);
    b->block = block;
    b->parent = parent;
    b->column = column;
    b->rows = parent->rows;
    b->width = t->dim[1].bound;
    b->stride = parent->stride;
    lower_take_name(w, arena_format(w->arena, "%s_%s", block->block->name, b->name));
    block->views = lower_grow(w, block->views, block->view_count, sizeof *block->views);
    block->views[block->view_count++] = b;
    w->buffer_of[t->id] = b;
}

Buffer *lower_cache(Lower *w, const Tensor *t, const Node *n)
{
    Buffer **slot = &w->buffer_of[t->id];
    if (*slot) return *slot;
    Buffer *b = lower_new_buffer(w, variable_of(w, t), t, PLACE_SLOT,
                                 n->values ? LAYOUT_VALUES : LAYOUT_KEYS);
    const bool ring = n->ring && pad16(n->ring) < pad16(t->dim[0].bound);
    b->kv_dtype = (int)w->plan->graph->model->kv_dtype;
    lower_size_cache(b, n->kv_heads, ring ? n->ring : t->dim[0].bound, t->dim[1].bound / n->kv_heads);
    b->layers = t->layers;
    b->layer_stride = pad64(b->bytes);
    b->name = arena_format(w->arena, "%s_%s", w->block->block->name, b->name);
    lower_whole(w, b);
    return *slot = b;
}
