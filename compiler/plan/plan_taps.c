/* plan_taps.c: keep intermediate tensors for inspection. */
#include "plan_lower.h"

#include <string.h>

static Buffer *tap_buffer(Lower *w, const Tensor *t)
{
    Buffer *b = lower_rows_buffer(w, t);
    b->name = lower_name(w, arena_format(w->arena, "tap_%s_%s", w->block->block->name, lower_words(w, t)));
    b->variable = arena_format(w->arena, "tap_%s", b->name + strlen("tap_") + strlen(w->block->block->name) + 1);
    b->place = PLACE_TAP;
    b->layers = w->block->block->layers;
    b->layer_stride = pad64(b->bytes);
    lower_whole(w, b);
    return b;
}

static void add_taps(Lower *w, const Tensor *t, Buffer *b)
{
    Plan *p = w->plan;
    int n = b->layers ? b->layers : 1;
    for (int i = 0; i < n; i++) {
        int layer = b->layers ? w->block->block->layer[i] : 0;
        p->taps = lower_grow(w, p->taps, p->tap_count, sizeof *p->taps);
        p->taps[p->tap_count++] = (Tap){ tensor_layer_name(w->arena, t, layer), t, b, layer, i };
    }
}

/* Attention writes its weights and scores to their taps; other tapped results are copied. */
void lower_tap(Lower *w, const Node *n, int first_op)
{
    PlanBlock *b = w->block;
    const int last_op = b->op_count - 1;        /* the attention, even after copies are appended */
    for (int r = 0; r < op_rows[n->op].results; r++) {
        const Tensor *t = n->out[r];
        if (!lower_tapped(w, t) || n->op == OP_APPEND) continue;
        if (r && t->output) {       /* attention writes it to a lasting buffer */
            add_taps(w, t, b->ops[last_op].out[r]);
            continue;
        }
        Buffer *kept = tap_buffer(w, t);
        add_taps(w, t, kept);
        if (r) {
            b->ops[last_op].out[r] = w->buffer_of[t->id] = kept;
            continue;
        }
        PlanOp made = b->ops[first_op];
        for (int i = first_op; i < b->op_count; i++)
            if (b->ops[i].out[0] == w->buffer_of[t->id]) made = b->ops[i];
        PlanOp *copy = lower_op(w, n, KERNEL_ACTIVATION, made.split, made.parts);
        if (copy->split == SPLIT_HEADS || copy->split == SPLIT_FIRST_THREAD) {
            copy->split = SPLIT_COLUMNS;
            copy->parts = (int)lower_groups(t->dim[1].bound);
        }
        copy->result = lower_as_rows(w, t);
        copy->activation = RT_IDENTITY;
        copy->in[0] = made.out[0];
        copy->out[0] = kept;
    }
}
