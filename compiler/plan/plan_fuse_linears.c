/* plan_fuse_linears.c: fuse into one call linears that read the same rows, two linears and their
 * gate, or a linear and the addition after it.
 *
 * Queries, keys and values are columns of one product: their panels are contiguous in the packed
 * weights, so one linear computes all of them into one buffer, and each is a view of it. The two
 * linears of a gate and the gate itself become one operation. A residual addition is fused into the
 * linear before it. If taps or `unfused` forbid fusion, the weights are still laid out as for
 * fusion. Each element is summed in the same order as without fusion, so no bit changes. */
#include "plan_lower.h"
#include "text.h"

#include <string.h>

/* True for a linear that may be fused: nothing needs its result in a buffer of its own. */
static bool may_join(const Lower *w, const Node *n)
{
    const Tensor *t = n->out[0];
    const bool asked = t->output || t->holds || t->alias_of || t == w->block->block->carry_out;
    return n->op == OP_LINEAR && t->rank == 2 && t->kind == TENSOR_TEMP && !asked;
}

static bool like(const Node *a, const Node *b)
{
    return a->in[0] == b->in[0] && !a->in[2] == !b->in[2] && a->in[1]->layers == b->in[1]->layers;
}

/* The node that reads `t`, if it is read exactly once in the block; else NULL. */
static const Node *only_reader(const Lower *w, const Tensor *t)
{
    const Uses u = w->uses[t->id];
    return u.count == 1 ? w->block->block->nodes[u.last] : NULL;
}

static const Node *gate_of(const Lower *w, const Node *n)
{
    const Node *reader = only_reader(w, n->out[0]);
    return reader && reader->op == OP_GATE && reader->out[0] != w->block->block->carry_out ? reader : NULL;
}

static const Node *maker_of(const Lower *w, const Tensor *t)
{
    const Block *b = w->block->block;
    for (int i = 0; i < b->count; i++)
        if (b->nodes[i]->out[0] == t) return b->nodes[i];
    return NULL;
}

/* ---- what belongs together ---------------------------------------------------------------------------------- */

/* Find the linears from `i` on that read the same rows and can be fused, in the order of the block.
 * Returns how many there are; 0 if `i` is not one of them, or is the only one. */
static int find_columns(Lower *w, int i, const Node *members[MOST_JOINED])
{
    const Block *b = w->block->block;
    int n = 0;
    for (int j = i; j < b->count && n < MOST_JOINED; j++) {
        const Node *m = b->nodes[j];
        if (may_join(w, m) && like(m, b->nodes[i]) && !gate_of(w, m) && !lower_activation_after(w, j)) members[n++] = m;
    }
    return n > 1 && members[0] == b->nodes[i] ? n : 0;
}

/* The gate that reads the linear at `i` and can be fused with both of its linears, or NULL.
 * members: the linear that is activated, then the one that its result is multiplied by. */
static const Node *find_gate(Lower *w, int i, const Node *members[MOST_JOINED])
{
    const Node *n = w->block->block->nodes[i], *gate = may_join(w, n) ? gate_of(w, n) : NULL;
    if (!gate || gate->out[0]->rank != 2) return NULL;
    for (int k = 0; k < 2; k++) {
        members[k] = maker_of(w, gate->in[k]);
        if (!members[k] || !may_join(w, members[k]) || gate_of(w, members[k]) != gate || !like(members[k], n)) return NULL;
    }
    return gate;
}

/* Pack the weights of all members contiguously; false if they were packed separately before, or
 * have different formats or blocks. */
static bool pack_together(Lower *w, const Node *const *members, int n, Packed **packed)
{
    bool together = true;
    for (int k = 0; k < n; k++) {
        packed[k] = lower_panels(w, members[k]->in[1], members[k]->in[2]);
        if (!k) continue;
        int at = 0;
        while (w->plan->packed[at] != packed[k]) at++;
        together &= at > 0 && w->plan->packed[at - 1] == packed[k - 1] && packed[k]->block == packed[k - 1]->block &&
                    packed[k]->format == packed[k - 1]->format;
    }
    return together;
}

/* ---- as one operation ---------------------------------------------------------------------------------------- */

static double linear_flops(const Node *n)
{
    const double in = (double)n->in[1]->dim[1].bound, out = (double)n->in[1]->dim[0].bound;
    return 2 * in * out + (n->in[2] ? out : 0);
}

static PlanOp *joined_op(Lower *w, const Node *n, Kernel kernel, int64_t columns, Packed *const *packed, int count)
{
    PlanOp *op = lower_op(w, n, kernel, SPLIT_COLUMNS, pad16(columns) / 16);
    op->weights = packed[0];
    op->joined_count = count;
    memcpy(op->joined, packed, (size_t)count * sizeof *packed);
    op->in[0] = lower_buffer(w, n->in[0]);
    return op;
}

/* decoder.{}.self_attn.q, .k, .v -> decoder.{}.self_attn.qkv; longer names: x.left, x.right ->
 * x.left_right */
static const char *joined_name(Lower *w, const Node *const *members, int n)
{
    Text t = text_new(w->arena);
    bool letters = true;
    for (int k = 0; k < n; k++) {
        const char *name = members[k]->out[0]->name, *dot = strrchr(name, '.');
        letters &= dot && !dot[2];
    }
    for (int k = 0; k < n; k++) {
        const char *name = members[k]->out[0]->name, *dot = strrchr(name, '.');
        if (!k) text_add(&t, name);
        else text_printf(&t, "%s%s", letters ? "" : "_", dot ? dot + 1 : name);
    }
    return t.data;
}

/* Fuse linears into one that writes the columns of all to one buffer; each result is a view. */
static void join_columns(Lower *w, const Node *const *members, int n, Packed *const *packed)
{
    const Tensor *first = members[0]->out[0];
    Tensor *all = arena_alloc(w->arena, sizeof *all);
    *all = *first;
    all->name = joined_name(w, members, n);
    all->dim[1] = (Dim){ 0, COUNT_CONSTANT };
    for (int k = 0; k < n; k++) all->dim[1].bound += pad16(members[k]->out[0]->dim[1].bound);
    PlanOp *op = joined_op(w, members[0], KERNEL_LINEAR, all->dim[1].bound, packed, n);
    op->result = all;
    op->out[0] = lower_whole_of_views(w, all);
    int64_t at = 0;
    for (int k = 0; k < n; k++) {
        const Tensor *t = members[k]->out[0];
        lower_view(w, t, op->out[0], at);
        at += pad16(t->dim[1].bound);
        op->flops += linear_flops(members[k]);
    }
}

/* The addition directly after the linear at `i` that adds its result to a residual, if it can be
 * fused and nothing else reads the result; else NULL. */
static const Node *find_sum(const Lower *w, int i)
{
    const Block *b = w->block->block;
    const Node *n = b->nodes[i], *next = i + 1 < b->count ? b->nodes[i + 1] : NULL;
    if (!may_join(w, n) || !next || next->op != OP_ADD || only_reader(w, n->out[0]) != next) return NULL;
    const int residual = op_rows[OP_ADD].in_place;
    return next->in[1 - residual] == n->out[0] && next->in[residual] != n->in[0] && next->out[0]->rank == 2 ? next : NULL;
}

static bool join_sum(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i], *sum = find_sum(w, i);
    if (!sum || w->plan->options.taps || w->plan->options.unfused) return false;
    Buffer *residual = lower_buffer(w, sum->in[op_rows[OP_ADD].in_place]), *out = lower_result(w, i + 1);
    if (residual->stride != out->stride || out == lower_buffer(w, n->in[0])) return false;
    Packed *packed = lower_panels(w, n->in[1], n->in[2]);
    PlanOp *op = joined_op(w, n, KERNEL_LINEAR_ADD, n->out[0]->dim[1].bound, &packed, 1);
    op->in[1] = residual;
    op->out[0] = out;
    op->result = sum->out[0];
    op->flops = linear_flops(n) + (double)n->out[0]->dim[1].bound;
    w->lowered[sum->out[0]->id] = true;
    return true;
}

bool lower_joined(Lower *w, int i)
{
    const Node *members[MOST_JOINED];
    Packed *packed[MOST_JOINED];
    if (w->plan->options.target != TARGET_PANELS) return false;
    if (join_sum(w, i)) return true;
    const Node *gate = find_gate(w, i, members);
    const int n = gate ? 2 : find_columns(w, i, members);
    if (!n || !pack_together(w, members, n, packed) || w->plan->options.taps || w->plan->options.unfused) return false;
    if (gate) {
        PlanOp *op = joined_op(w, members[0], KERNEL_LINEAR_GATE, gate->out[0]->dim[1].bound, packed, n);
        op->activation = gate->kind;
        op->result = gate->out[0];
        op->out[0] = lower_buffer(w, op->result);
        op->flops = linear_flops(members[0]) + linear_flops(members[1]) + 8.0 * (double)gate->out[0]->dim[1].bound;
        w->lowered[gate->out[0]->id] = true;
    } else join_columns(w, members, n, packed);
    for (int k = 0; k < n; k++) w->lowered[members[k]->out[0]->id] = true;
    return true;
}
