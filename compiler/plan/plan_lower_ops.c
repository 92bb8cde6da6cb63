/* plan_lower_ops.c: what lowerings share: making an operation, its result and its weights, and
 * questions about tensors: whether they are read later, tapped, or activated next. */
#include "plan_lower.h"

#include <string.h>

PlanOp *lower_op(Lower *w, const Node *n, Kernel kernel, Split split, int64_t parts)
{
    PlanBlock *b = w->block;
    b->ops = lower_grow(w, b->ops, b->op_count, sizeof *b->ops);
    PlanOp *op = &b->ops[b->op_count++];
    bool many = b->rows > 1;        /* then it is split by rows; plan_split sets their number */
    *op = (PlanOp){ .node = n, .result = n ? n->out[0] : NULL, .kernel = kernel, .split = many ? SPLIT_ROWS : split,
                    .parts = many ? (int)b->rows : (int)parts };
    return op;
}

int64_t lower_groups(int64_t width) { return (width + 15) / 16; }

bool lower_used_after(const Lower *w, const Tensor *t, int i) { return w->uses[t->id].last > i; }

bool lower_tapped(const Lower *w, const Tensor *t)
{
    /* The block for one row has the same taps. */
    bool of_many = w->block->count == COUNT_ROWS && strncmp(t->name, "rows.", 5) == 0 && w->block->rows > 1;
    return w->plan->options.taps && t->kind == TENSOR_TEMP && !t->integer && !of_many;
}

/* True if node `i` computes what a layer passes on, and no later node reads what was passed to it. */
static bool leaves_for_next_layer(const Lower *w, const Block *b, int i)
{
    return b->layers > 0 && b->carry_in && b->nodes[i]->out[0] == b->carry_out && !lower_used_after(w, b->carry_in, i);
}

Buffer *lower_result(Lower *w, int i)
{
    const Block *b = w->block->block;
    const Node *n = b->nodes[i];
    int place = op_rows[n->op].in_place;
    if (leaves_for_next_layer(w, b, i)) return w->buffer_of[n->out[0]->id] = w->buffer_of[b->carry_in->id];
    if (w->plan->options.target == TARGET_PANELS && place >= 0) {
        const Tensor *t = n->in[place];
        bool ours = t->kind == TENSOR_TEMP && !t->output && !t->holds && t != b->carry_out;
        if (ours && !lower_used_after(w, t, i)) {
            Buffer *taken = lower_buffer(w, t);
            bool kept = n->out[0]->output || n->out[0]->holds;
            /* an output must not be in a buffer that ends with the block */
            bool lasts = taken->place != PLACE_TAP && (!taken->block || !kept);
            if (lasts && taken->layout != LAYOUT_COPIES) return w->buffer_of[n->out[0]->id] = taken;
        }
    }
    return lower_buffer(w, n->out[0]);
}

/* True for an embedding table in narrow panels: an output layer in another block may share it. */
static bool lower_ties(const Lower *w, const Tensor *weight)
{
    const Node *const *n = (const Node *const *)w->block->block->nodes;
    bool table = false;
    for (int i = 0; i < w->block->block->count; i++) table |= n[i]->op == OP_EMBED && n[i]->in[0] == weight;
    return table && format_is_narrow(w->plan->formats[weight->id]);
}

Packed *lower_packed(Lower *w, Format format, const Tensor *weight, const Tensor *bias)
{
    Plan *p = w->plan;
    int namesakes = 0;              /* the same weight with another bias, or in another format */
    for (int i = 0; weight && i < p->packed_count; i++) {
        if (p->packed[i]->tensor[0] != weight) continue;
        if (p->packed[i]->format == format && p->packed[i]->tensor[1] == bias) return p->packed[i];
        namesakes++;
    }
    Packed *k = arena_alloc(w->arena, sizeof *k);
    *k = (Packed){ .format = format, .tensor = { weight, bias } };
    if (weight) {
        k->name = namesakes ? arena_format(w->arena, "%s.packed_%d", weight->name, namesakes + 1) : weight->name;
        k->layers = weight->layers;
        /* shared by all layers: it is packed outside of them */
        bool shared = weight->layers == 0 && w->block->block->layers > 0;
        k->block = shared || lower_ties(w, weight) ? NULL : w->block;
        k->identifier = lower_identifier(w, k);
    }
    p->packed = lower_grow(w, p->packed, p->packed_count, sizeof *p->packed);
    p->packed[p->packed_count++] = k;
    return k;
}

Format lower_panels_of(const Lower *w, const Tensor *weight)
{
    return w->plan->options.target == TARGET_PANELS ? w->plan->formats[weight->id] : FORMAT_PANELS_F32;
}

Packed *lower_panels(Lower *w, const Tensor *weight, const Tensor *bias)
{
    return lower_packed(w, lower_panels_of(w, weight), weight, bias);
}

const Node *lower_activation_after(const Lower *w, int i)
{
    const Block *b = w->block->block;
    const Tensor *t = b->nodes[i]->out[0];
    if (w->plan->options.target != TARGET_PANELS || w->plan->options.unfused) return NULL;
    if (lower_tapped(w, t) || t->output || t == b->carry_out || i + 1 >= b->count) return NULL;
    const Node *next = b->nodes[i + 1];
    return next->op == OP_ACTIVATION && next->in[0] == t && w->uses[t->id].count == 1 ? next : NULL;
}

const Tensor *lower_as_rows(Lower *w, const Tensor *t)
{
    if (t->rank != 3) return t;
    Tensor *rows = arena_alloc(w->arena, sizeof *rows);
    *rows = *t;
    rows->rank = 2;
    rows->dim[0] = (Dim){ t->dim[0].bound * t->dim[1].bound, t->dim[1].count };
    rows->dim[1] = t->dim[2];
    return rows;
}
