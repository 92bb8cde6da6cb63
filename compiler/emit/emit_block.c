/* emit_block.c: one C function per block, one commented call per operation. */
#include "emit.h"

#include <string.h>

static const char *dim_text(Emit *e, const Dim *d)
{
    return d->count == COUNT_CONSTANT ? arena_format(e->arena, "%lld", (long long)d->bound) : count_name(d->count);
}

/* The shape in a comment's margin: "[source, 64]", with run-time lengths by name. */
static const char *shape_text(Emit *e, const Tensor *t)
{
    Text s = text_new(e->arena);
    for (int r = 0; r < t->rank; r++) text_printf(&s, "%s%s", r ? ", " : "[", dim_text(e, &t->dim[r]));
    text_add(&s, "]");
    return s.data;
}

/* ---- comments: what an operation computes, in the names of the function ----------------------------------------- */

bool emit_batches(const Emit *e) { return e->model->has_encoder && !e->model->has_decoder; }
bool emit_pools(const Emit *e) { return emit_batches(e) && model_pools(e->model); }

/* True for panels of an encoder-only model, which hold the keys or values of several texts. */
static bool is_shared(const Emit *e, const PlanBlock *b, const Buffer *x)
{
    return emit_batches(e) && b->count == COUNT_SOURCE && b->rows > 1 && (x->layout == LAYOUT_KEYS || x->layout == LAYOUT_VALUES);
}

/* True for integers that outlive a block; calls refer to them as members of the state. */
static bool is_member(const Buffer *x) { return x->layout == LAYOUT_INTS && x->place == PLACE_SCRATCH && !x->block; }

/* A buffer as an argument. Inside a loop over groups, a cache is that of the group's slot, and
 * panels that hold several texts are addressed starting at the group's text. */
static const char *operand(Emit *e, const PlanBlock *b, const Buffer *x)
{
    bool many = b->count == COUNT_ROWS && b->rows > 1 && x->place == PLACE_SLOT;
    if (is_member(x)) return emit_in_state(e, x, NULL);
    const long long width = x->layout == LAYOUT_KEYS ? x->width : 16;
    if (is_shared(e, b, x))
        return arena_format(e->arena, "%s + %lld * g->slot", x->variable, width);
    return many ? emit_in_state(e, x, "g->slot") : x->variable;
}

/* "W_self_q^T": the matrix of a linear. That of a graph's matmul is packed transposed: no ^T. */
static const char *matrix_words(Emit *e, const Packed *k)
{
    const TensorSource *s = k->tensor[0]->source[0];
    bool transposed = s->rank == 2 && s->stride[1] != 1 && s->shape[1] > 1;
    const char *name = emit_weight_words(e, k);
    const char *w = strncmp(name, "w_", 2) == 0 ? "" : "W_";
    return arena_format(e->arena, "%s%s%s", w, name, transposed ? "" : "^T");
}

/* "x W_q^T + b"; for joined linears "x [W_q^T | W_k^T | W_v^T] + b", or
 * "silu(x W_gate^T) * (x W_up^T)". */
static const char *linear_words(Emit *e, const PlanOp *op, const char *in, const char *act)
{
    Text t = text_new(e->arena);
    const char *bias = op->weights->tensor[1] ? " + b" : "";
    if (op->kernel == KERNEL_LINEAR_GATE)
        return arena_format(e->arena, "%s(%s %s%s) * (%s %s%s)", act, in, matrix_words(e, op->weights), bias, in,
                            matrix_words(e, op->joined[1]), bias);
    text_printf(&t, op->joined_count > 1 ? "%s [%s" : "%s %s", in, matrix_words(e, op->weights));
    for (int i = 1; i < op->joined_count; i++) text_printf(&t, " | %s", matrix_words(e, op->joined[i]));
    text_printf(&t, "%s%s", op->joined_count > 1 ? "]" : "", bias);
    return op->activation == RT_IDENTITY ? t.data : arena_format(e->arena, "%s(%s)", act, t.data);
}

/* The inputs of an xf.op: variables of the block, and parameters by name. */
static const char *custom_words(Emit *e, const PlanOp *op)
{
    Text t = text_new(e->arena);
    for (int i = 0; i < op->node->custom->input_count; i++)
        text_printf(&t, "%s%s", i ? ", " : "", op->params[i] ? op->params[i]->name : op->in[i]->variable);
    return t.data;
}

static const char *scale_words(Emit *e, double scale)
{
    return scale == 1 ? "" : arena_format(e->arena, "%.6g * ", scale);
}

/* Attention's scores for queries `q` and keys `k`, scaled and capped, before a bias is added. */
static const char *scores_words(Emit *e, const PlanOp *op, const char *q, const char *k)
{
    const Node *n = op->node;
    const char *scores = arena_format(e->arena, "%s %s^T * %.6g", q, k, n->scale);
    return n->softcap > 0 ? arena_format(e->arena, "%.6g * tanh(%s / %.6g)", n->softcap, scores, n->softcap) : scores;
}

static const char *kernel_words(Emit *e, const PlanOp *op)
{
    const char *in[NODE_INPUTS], *out = op->out[0] ? op->out[0]->variable : "";
    int n;
    for (int i = 0; i < NODE_INPUTS; i++) in[i] = op->in[i] ? op->in[i]->variable : "";
    const char *act = field_words("activations", &n)[op->activation];
    switch (op->kernel) {
    case KERNEL_LINEAR:
    case KERNEL_LINEAR_GATE: return arena_format(e->arena, "%s = %s", out, linear_words(e, op, in[0], act));
    case KERNEL_LINEAR_ADD: return arena_format(e->arena, "%s = %s + %s", out, in[1], linear_words(e, op, in[0], act));
    case KERNEL_NORM:       return arena_format(e->arena, "%s = norm(%s)", out, in[0]);
    case KERNEL_EMBED:
        return arena_format(e->arena, "%s = %s%s[%s]", out, scale_words(e, op->node->scale), emit_weight_words(e, op->weights), in[1]);
    case KERNEL_POSITION:   return arena_format(e->arena, "%s = %s + %s[%s]", out, in[0], emit_weight_words(e, op->weights), in[2]);
    case KERNEL_GATE:       return arena_format(e->arena, "%s = %s(%s) * %s", out, act, in[0], in[1]);
    case KERNEL_ROTARY:     return arena_format(e->arena, "%s = %s rotated by %s", out, in[0], in[2]);
    case KERNEL_ACTIVATION:
        return op->activation == RT_IDENTITY ? arena_format(e->arena, "%s = %s", out, in[0]) : arena_format(e->arena, "%s = %s(%s)", out, act, in[0]);
    case KERNEL_STORE_K:
    case KERNEL_STORE_V:    return arena_format(e->arena, "%s[%s] = %s", out, in[2], in[1]);
    case KERNEL_RING_K:
    case KERNEL_RING_V:     return arena_format(e->arena, "%s[%s %% %lld] = %s", out, in[2], (long long)op->out[0]->rows, in[1]);
    case KERNEL_WINDOW:
        return arena_format(e->arena, "%s = softmax(%s) %s over %s %lld", out, scores_words(e, op, in[0], in[1]), in[2],
                            op->in[5] ? "positions nearer than" : "the last", (long long)op->node->window);
    case KERNEL_ATTENTION:
        return arena_format(e->arena, "%s = softmax(%s%s%s%s) %s%s%s%s", out, scores_words(e, op, in[0], in[1]), op->weights ? " + bias" : "",
                            op->in[8] ? " + " : "", in[8], in[2], op->in[6] ? ", where " : "", in[6],
                            op->in[6] ? " is not 0" : "");
    case KERNEL_POOL:       return arena_format(e->arena, "%s = the rows of %s, pooled", out, in[0]);
    case KERNEL_SCALE:
        if (op->node->softcap <= 0) return arena_format(e->arena, "%s = %s * %.6g", out, in[0], op->node->scale);
        return arena_format(e->arena, "%s = %.6g * tanh(%s * %.6g / %.6g)", out, op->node->softcap, in[0], op->node->scale, op->node->softcap);
    case KERNEL_LOG_SOFTMAX: return arena_format(e->arena, "%s = log_softmax(%s)", out, in[0]);
    case KERNEL_ARGMAX:     return arena_format(e->arena, "%s = index of the maximum of %s", out, in[0]);
    case KERNEL_CUSTOM:     return arena_format(e->arena, "%s = %s(%s)", out, op->node->custom->name, custom_words(e, op));
    default: return arena_format(e->arena, "%s = %s", out, emit_element(e, kernel_element(op->kernel), in[0], in[1], false));
    }
}

/* True if the rows of a block may belong to several slots. An operation on caches then runs once
 * per slot, on the rows of that slot. Likewise, one on panels of several texts runs once per
 * text. */
static bool by_slot(const PlanBlock *b) { return b->count == COUNT_ROWS && b->rows > 1; }

static bool is_of_group(const Emit *e, const PlanBlock *b, const Buffer *x)
{
    return x && (is_shared(e, b, x) || (by_slot(b) && x->place == PLACE_SLOT));
}

static bool by_group(const Emit *e, const PlanBlock *b, const PlanOp *op)
{
    for (int i = 0; i < NODE_INPUTS; i++)
        if (is_of_group(e, b, op->in[i])) return true;
    return is_of_group(e, b, op->out[0]);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* The operands of an xf.op, in order. */
static const char *custom_arguments(Emit *e, const PlanBlock *b, const PlanOp *op)
{
    Text t = text_new(e->arena);
    text_add(&t, operand(e, b, op->out[0]));
    for (int i = 0; i < op->node->custom->input_count; i++) {
        if (op->params[i])
            text_printf(&t, ", %s", emit_weight_floats(e, op->params[i]));
        else text_printf(&t, ", %s", operand(e, b, op->in[i]));
    }
    return t.data;
}

/* A barrier; "" if there is only one thread. */
static const char *barrier(const Emit *e)
{
    return emit_has_threads(e) ? "    rt_barrier(j->team);\n" : "";
}

/* The condition before a statement that only the first thread runs. */
static const char *first_thread(const Emit *e)
{
    return emit_has_threads(e) ? "if (thread == 0) " : "";
}

/* This thread's piece of the scratch. */
static const char *thread_scratch(Emit *e, const PlanOp *op)
{
    const Buffer *s = op->scratch;
    if (!emit_has_threads(e)) return s->variable;
    return arena_format(e->arena, "%s + thread * %lld", s->variable, (long long)(s->rows * s->stride));
}

/* The variable with this thread's share of `parts`; a single thread does all of them. */
static const char *share(Emit *e, int parts)
{
    return arena_format(e->arena, emit_has_threads(e) ? "share_%d" : "all_%d", parts);
}

static const char *rows_text(Emit *e, const PlanBlock *b, const PlanOp *op)
{
    if (b->count != COUNT_CONSTANT) return "mine";
    const char *format = emit_has_threads(e) ? "rt_split(%d, thread, threads)" : "(rt_span){ 0, %d }";
    return arena_format(e->arena, format, op->parts);
}

/* True if threads may divide the linears of this block by panels. */
static bool shares_panels(const Emit *e, const PlanBlock *b)
{
    return emit_has_threads(e) && e->plan->few_rows && b->rows > 1 && b->count == COUNT_ROWS;
}

/* The argument for a thread's rounded rows, with a comma before it; "" if the linear does not
 * round. See plan_rounded.c. */
static const char *rounded(Emit *e, const PlanBlock *b, const PlanOp *op)
{
    const Buffer *s = op->scratch;
    if (!plan_op_rounds(op)) return "";
    if (op->split != SPLIT_ROWS || s->heads > 1) return arena_format(e->arena, ", %s", thread_scratch(e, op));
    if (!emit_has_threads(e)) return arena_format(e->arena, ", %s", s->variable);
    const char *first = arena_format(e->arena, "%s.begin", rows_text(e, b, op));
    if (shares_panels(e, b)) first = arena_format(e->arena, "(few ? thread * %d : rows.begin)", e->plan->few_rows);
    return arena_format(e->arena, ", %s + %s * %lld", s->variable, first, (long long)s->stride);
}

static const char *arguments(Emit *e, const PlanBlock *b, const PlanOp *op, const Wrapper *w)
{
    const char *in[NODE_INPUTS], *out = op->out[0] ? operand(e, b, op->out[0]) : "";
    for (int i = 0; i < NODE_INPUTS; i++) in[i] = op->in[i] ? operand(e, b, op->in[i]) : "NULL";
    switch (op->kernel) {
    case KERNEL_LINEAR:
    case KERNEL_LINEAR_GATE:
        return arena_format(e->arena, "%s, %s, %s%s", out, in[0], emit_weight(e, op), rounded(e, b, op));
    case KERNEL_LINEAR_ADD:
        return arena_format(e->arena, "%s, %s, %s, %s%s", out, in[0], emit_weight(e, op), in[1], rounded(e, b, op));
    case KERNEL_NORM:       return arena_format(e->arena, "%s, %s, %s", out, in[0], emit_weight(e, op));
    case KERNEL_EMBED:      return arena_format(e->arena, "%s, %s, %s", out, emit_weight(e, op), in[1]);
    case KERNEL_POSITION:   return arena_format(e->arena, "%s, %s, %s, %s", out, in[0], emit_weight(e, op), in[2]);
    case KERNEL_POOL:
        return arena_format(e->arena, "%s, %s + %lld * (size_t)j->first, %s + j->first", out, in[0], (long long)op->in[0]->stride, in[1]);
    case KERNEL_ROTARY:     return arena_format(e->arena, "%s, %s, %s, %s", out, in[0], emit_weight(e, op), in[2]);
    case KERNEL_STORE_K:
    case KERNEL_STORE_V:
    case KERNEL_RING_K:
    case KERNEL_RING_V:     return arena_format(e->arena, "%s, %s, %s", out, in[1], in[2]);
    case KERNEL_WINDOW:
    case KERNEL_ATTENTION: {
        const char *table = w->bias ? arena_format(e->arena, ", %s", emit_weight(e, op)) : "";
        const char *bias = w->bias || w->both ? arena_format(e->arena, "%s, %s", table, in[5]) : "";
        const char *mask = w->masked ? arena_format(e->arena, ", %s", in[6]) : "";
        const char *added = w->added ? arena_format(e->arena, ", %s", in[8]) : "";
        const char *scores = op->out[2] ? op->out[2]->variable : "NULL";
        const char *weights = op->out[1] ? op->out[1]->variable : "NULL";
        const char *taps = w->taps ? arena_format(e->arena, ", %s, %s", scores, weights) : "";
        return arena_format(e->arena, "%s, %s, %s, %s, %s%s%s%s%s, %s", out, in[0], in[1], in[2],
                            thread_scratch(e, op), bias, mask, added, taps, in[3]);
    }
    case KERNEL_CUSTOM:     return custom_arguments(e, b, op);
    default:                return arena_format(e->arena, op->in[1] ? "%s, %s, %s" : "%s, %s", out, in[0], in[1]);
    }
}

/* After an operation that stores keys or values as f16: each thread checks the rows or heads that
 * it stored for numbers beyond the range of f16. Other threads may still be writing the rest. */
static void emit_saturation(Emit *e, Text *out, const PlanBlock *b, const PlanOp *op)
{
    const Buffer *x = op->in[1];
    const char *thread = emit_has_threads(e) ? "thread" : "0", *first = operand(e, b, x);
    if (op->split == SPLIT_ROWS) {
        text_printf(out, "    note_saturation(j, %s, %s, %s, %lld, %lld);\n", thread, first, rows_text(e, b, op),
                    (long long)x->width, (long long)x->stride);
        return;
    }
    const char *heads = share(e, op->parts);
    const long long width = x->width / op->parts;
    text_printf(out, "    note_saturation(j, %s, %s + %s.begin * %lld, (rt_span){ 0, %lld },\n"
                     "                    (%s.end - %s.begin) * %lld, %lld);\n",
                thread, first, heads, width, (long long)b->rows, heads, heads, width, (long long)x->stride);
}

/* Emit one operation. heading: the part of the block that begins with it, or NULL. */
static void emit_op(Emit *e, Text *out, const PlanBlock *b, const PlanOp *op, const char *heading)
{
    const Wrapper *w = emit_wrapper(e, op);
    const char *args = arguments(e, b, op, w), *call;
    bool slots = by_group(e, b, op);
    switch (op->split) {
    case SPLIT_ROWS:
        if (emit_takes_panels(e, w))
            call = shares_panels(e, b) ? arena_format(e->arena, "%s(%s, rows, %s);", w->name, args, share(e, w->parts))
                                       : arena_format(e->arena, "%s(%s, %s, (rt_span){ 0, %d });", w->name, args, rows_text(e, b, op), w->parts);
        else call = arena_format(e->arena, "%s(%s, %s);", w->name, args, slots ? "rt_intersect(mine, g->rows)" : rows_text(e, b, op));
        break;
    case SPLIT_EACH_THREAD: call = arena_format(e->arena, "%s(%s);", w->name, args); break;
    case SPLIT_FIRST_THREAD: call = arena_format(e->arena, "%s%s(%s);", first_thread(e), w->name, args); break;
    default:               call = arena_format(e->arena, "%s(%s, %s);", w->name, args, share(e, op->parts)); break;
    }
    if (op->barrier) text_add(out, barrier(e));
    else if (op->barrier_few && shares_panels(e, b)) text_add(out, "    if (few) rt_barrier(j->team);\n");
    if (heading) text_printf(out, "\n    /* ---- %s */\n", heading);
    const char *words = kernel_words(e, op), *shape = shape_text(e, op->result);
    const int gap = 90 - (int)strlen(words) - (int)strlen(shape);
    if (gap >= 2) text_printf(out, "    /* %s%*s%s */\n", words, gap, "", shape);
    else text_printf(out, "    /* %s\n     *%*s%s */\n", words, 91 - (int)strlen(shape), "", shape);
    if (slots) text_add(out, "    for (const rt_group *g = j->groups; g < j->groups_end; g++)\n    ");
    text_printf(out, "    %s\n", call);
    if (e->plan->saturated_offset && plan_op_kv_dtype(op) == KV_DTYPES_F16 && kernel_is_store(op->kernel)) emit_saturation(e, out, b, op);
}

/* ---- declarations: each buffer that a function uses -------------------------------------------------------------- */

/* The buffers that a block uses, in order of first use. No two have the same variable. */
typedef struct Used { NameMap *seen; const Buffer **list; int count, room; } Used;

static void use(Emit *e, Used *u, Buffer *b)
{
    if (!b || name_map_find(u->seen, b->variable) == b) return;
    use(e, u, b->parent);
    if (name_map_find(u->seen, b->variable)) die("two buffers of a block are called %s", b->variable);
    name_map_add(u->seen, b->variable, b);
    if (u->count == u->room) {
        const int room = u->room ? 2 * u->room : 64;
        u->list = arena_grow(e->arena, u->list, (size_t)u->room * sizeof *u->list, (size_t)room * sizeof *u->list);
        u->room = room;
    }
    u->list[u->count++] = b;
}

static const char *layout_words(Emit *e, const Buffer *b)
{
    long long heads = b->heads, rows = b->rows, width = b->width;
    switch (b->layout) {
    case LAYOUT_KEYS:   return arena_format(e->arena, "[%lld heads][%lld / 16][%lld][16]", heads, rows, width);
    case LAYOUT_VALUES: return arena_format(e->arena, "[%lld heads][%lld / 16][%lld][16]", heads, (long long)pad16(width), rows);
    case LAYOUT_INTS:   return arena_format(e->arena, "[%lld]", rows);
    case LAYOUT_COPIES:
    case LAYOUT_THREADS:
        if (heads == 1) return arena_format(e->arena, "[%lld][%lld]", rows, (long long)b->stride);
        return arena_format(e->arena, "[%lld threads][%lld][%lld]", heads, rows, (long long)b->stride);
    default:
        return heads > 1 ? arena_format(e->arena, "[%lld][%lld][%lld]", heads, rows, (long long)b->stride)
                         : arena_format(e->arena, "[%lld][%lld]", rows, (long long)b->stride);
    }
}

/* True for a buffer of one block, in the part of the scratch that blocks use in turn. */
static bool is_local(const Buffer *x) { return x->place == PLACE_SCRATCH && x->block; }

/* A declaration followed by a comment, which is aligned if the code is short enough. */
static void declaration(Text *out, const char *code, const char *comment)
{
    text_printf(out, "    %-58s  /* %s */\n", code, comment);
}

/* A pointer advanced by `numbers` elements. */
static const char *beyond(Emit *e, const char *pointer, size_t numbers)
{
    return numbers ? arena_format(e->arena, "%s + %zu", pointer, numbers) : pointer;
}

static void declare(Emit *e, Text *out, const PlanBlock *b, const Buffer *x)
{
    const char *type = emit_buffer_type(x);
    if ((x->place == PLACE_SLOT && by_slot(b)) || is_member(x)) return;   /* calls use the member */
    if (is_local(x)) {
        const char *at = beyond(e, "s->scratch", (plan_address(e->plan, x) - e->plan->blocks_offset) / sizeof(float));
        if (x->layout == LAYOUT_COPIES) at = arena_format(e->arena, "%s + thread * %lld", at, (long long)(x->rows * x->stride));
        if (x->layout == LAYOUT_INTS) at = arena_format(e->arena, "(int *)(void *)(%s)", at);
        declaration(out, arena_format(e->arena, "%s *const %s = %s;", type, x->variable, at), layout_words(e, x));
        return;
    }
    text_printf(out, "    %s *const %s = %s;\n", type, x->variable, emit_in_state(e, x, x->place == PLACE_SLOT ? "j->slot" : NULL));
}

/* Declare all views that a block uses of the parent of u->list[first], in order of their columns;
 * do nothing if they were declared for an earlier view in the list. */
static void declare_views(Emit *e, Text *out, const Used *u, int first)
{
    const Buffer *parent = u->list[first]->parent;
    for (int i = 0; i < first; i++)
        if (u->list[i]->parent == parent) return;
    const char *begin = "    float";
    for (int64_t column = 0; column >= 0;) {
        int64_t next = -1;              /* the column of the next view */
        for (int i = first; i < u->count; i++) {
            const Buffer *x = u->list[i];
            if (x->parent != parent) continue;
            if (x->column > column && (next < 0 || x->column < next)) next = x->column;
            if (x->column != column) continue;
            text_printf(out, "%s *const %s = %s", begin, x->variable, beyond(e, parent->variable, (size_t)column));
            begin = ",";
        }
        column = next;
    }
    text_add(out, ";\n");
}

/* Declare this thread's share for each number of panels, heads or groups that is divided. */
static void declare_shares(Emit *e, Text *out, const PlanBlock *b)
{
    NameMap *seen = name_map_new(e->arena);
    for (int i = 0; i < b->op_count; i++) {
        PlanOp *op = &b->ops[i];
        const bool panels = emit_takes_panels(e, emit_wrapper(e, op)) && shares_panels(e, b);
        if (!panels && (op->split != SPLIT_COLUMNS && op->split != SPLIT_HEADS)) continue;
        const int parts = panels ? emit_wrapper(e, op)->parts : op->parts;
        const char *name = share(e, parts);
        if (name_map_find(seen, name)) continue;
        name_map_add(seen, name, op);
        text_printf(out, !emit_has_threads(e) ? "    const rt_span %s = { 0, %d };\n"
                         : panels ? "    const rt_span %s = rt_split(%d, few ? thread : 0, few ? threads : 1);\n"
                                  : "    const rt_span %s = rt_split(%d, thread, threads);\n", name, parts);
    }
}

static void declarations(Emit *e, Text *out, const PlanBlock *b)
{
    Used u = { .seen = name_map_new(e->arena) };
    /* The block that the weights belong to: this one, or another that runs the same layers. */
    const PlanBlock *owner = NULL;
    bool rows = false;
    for (int i = 0; i < b->op_count; i++) {
        const PlanOp *op = &b->ops[i];
        for (int k = 0; k < NODE_INPUTS; k++)
            use(e, &u, op->in[k]);
        for (int k = 0; k < 3; k++) use(e, &u, op->out[k]);
        use(e, &u, op->scratch);
        if (op->weights && op->weights->block) {
            if (owner && owner != op->weights->block) die("%s: weights of two blocks", b->block->name);
            owner = op->weights->block;
        }
        for (int k = 0; k < NODE_INPUTS; k++)
            if (op->params[k]) owner = op->params[k]->block;      /* an xf.graph has one block */
        rows |= op->split == SPLIT_ROWS;
    }
    if (owner) emit_weights_pointer(e, out, owner, b->block->layers > 0);
    text_add(out, "    struct state *const s = j->state;\n");
    for (int i = 0; i < u.count; i++) {
        if (u.list[i]->parent) declare_views(e, out, &u, i);
        else declare(e, out, b, u.list[i]);
    }
    bool linears = false;
    for (int i = 0; i < b->op_count; i++) linears |= kernel_is_linear(b->ops[i].kernel);
    if (linears && shares_panels(e, b))
        text_printf(out, "    const int few = threads > 1 && j->rows <= %d;      /* with few rows, threads divide the panels of linears */\n"
                         "    const rt_span rows = rt_split(j->rows, few ? 0 : thread, few ? 1 : threads);\n", e->plan->few_rows);
    declare_shares(e, out, b);
    if (rows && b->count != COUNT_CONSTANT)
        text_add(out, emit_has_threads(e)
                      ? "    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */\n"
                      : "    const rt_span mine = { 0, j->rows };\n");
    if (!b->ops[0].node->part) text_add(out, "\n");
}

/* A barrier before the call, so that the result is complete, and one after it, so that all threads
 * see what the call changes. */
static void emit_watch(Emit *e, Text *out, const PlanBlock *b, int operation)
{
    int block = 0;
    while (e->plan->blocks[block] != b) block++;
    const char *rows = b->count == COUNT_CONSTANT ? arena_format(e->arena, "%lld", (long long)b->rows) : "j->rows";
    text_printf(out, "%s    %srt_watch(%d, %d, %s, %s);\n%s", barrier(e), first_thread(e),
                block, operation, b->block->layers ? "layer" : "0", rows, barrier(e));
}

EmitPrefillEnd emit_prefill_end(const Plan *p)
{
    const PlanPart part = plan_part(p, PROGRAM_PREFILL);
    if (!part.runs) return (EmitPrefillEnd){ NULL, 0, 0 };
    const PlanRun *last = &part.program->runs[part.runs - 1];
    if (part.last_ops == last->block->op_count) return (EmitPrefillEnd){ NULL, 0, 0 };
    return (EmitPrefillEnd){ last->block, part.last_ops, last->first + last->count - 1 };
}

static void emit_block(Emit *e, Text *out, const PlanBlock *b)
{
    const Block *block = b->block;
    const EmitPrefillEnd end = emit_prefill_end(e->plan);
    text_printf(out, "/* %s.%s */\n", block->doc, block->layers > 1 ? arena_format(e->arena, " One of %d layers.", block->layers) : "");
    text_printf(out, "static void %s(const job *j%s%s)\n{\n", block->name,
                block->layers ? ", int layer" : "", emit_has_threads(e) ? ", int thread, int threads" : "");
    declarations(e, out, b);
    bool shared = false;
    for (int i = 0; i < b->op_count; i++) shared |= !split_is_whole(b->ops[i].split);
    if (!shared && emit_has_threads(e)) text_add(out, "    (void)threads;\n");
    const char *part = NULL;
    for (int i = 0; i < b->op_count; i++) {
        const char *now = b->ops[i].node->part;
        emit_op(e, out, b, &b->ops[i], now != part ? now : NULL);
        if (e->hooks & EMIT_WATCHES) emit_watch(e, out, b, i);
        if (b == end.block && i + 1 == end.ops)
            text_printf(out, "    if (j->keys_only && layer == %d) return;      /* prefill: nothing reads the rest */\n", end.layer);
        part = now;
    }
    text_printf(out, "%s}\n\n", barrier(e));
}

void emit_blocks(Emit *e, Text *out)
{
    for (int i = 0; i < e->plan->block_count; i++) emit_block(e, out, e->plan->blocks[i]);
}
