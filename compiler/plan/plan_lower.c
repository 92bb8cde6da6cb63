/* plan_lower.c: lower blocks of nodes to operations on buffers.
 *
 * TARGET_PANELS: an activation is fused into the linear before it if nothing else reads the
 * linear's result; linears that read the same rows are one call, and so are linears with their gate
 * or addition (plan_fuse_linears.c); keys and values are stored in panels before attention reads
 * them; operations work in place where that is safe.
 * TARGET_ROW_MAJOR: one operation per node. Each tensor has its own buffer, except that caches are
 * extended in place and layers overwrite the tensor that they pass on.
 * For both, a bias is part of its linear, and an alias shares the buffer of its tensor. */
#include "plan_lower.h"

#include <string.h>

/* ---- operations ----------------------------------------------------------------------------------------- */

/* Count the reads of each tensor by the nodes of a block, and note the last one. */
static void count_uses(Lower *w, const Block *b)
{
    if (b->carry_in) w->uses[b->carry_in->id] = (Uses){ 0, -1 };
    for (int i = 0; i < b->count; i++) {
        for (int j = 0; j < NODE_INPUTS; j++)
            if (b->nodes[i]->in[j]) w->uses[b->nodes[i]->in[j]->id] = (Uses){ 0, -1 };
        for (int r = 0; r < op_rows[b->nodes[i]->op].results; r++) w->uses[b->nodes[i]->out[r]->id] = (Uses){ 0, -1 };
    }
    for (int i = 0; i < b->count; i++)
        for (int j = 0; j < NODE_INPUTS; j++) {
            const Tensor *t = b->nodes[i]->in[j];
            if (t) w->uses[t->id] = (Uses){ w->uses[t->id].count + 1, i };
        }
}

/* ---- one function per operation; each returns how many nodes it took --------------------------------------- */

static int lower_embed(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_EMBED, SPLIT_FIRST_THREAD, 1);
    const bool narrow = format_is_narrow(lower_panels_of(w, n->in[0]));
    op->weights = narrow ? lower_panels(w, n->in[0], NULL) : lower_packed(w, FORMAT_TABLE_F32, n->in[0], NULL);
    op->in[1] = lower_buffer(w, n->in[1]);
    op->out[0] = lower_buffer(w, n->out[0]);
    op->flops = (double)n->out[0]->dim[1].bound;
    return 1;
}

static int lower_position(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_POSITION, SPLIT_FIRST_THREAD, 1);
    op->weights = lower_packed(w, FORMAT_TABLE_F32, n->in[1], NULL);
    op->in[0] = lower_buffer(w, n->in[0]);
    op->in[2] = lower_buffer(w, n->in[2]);
    op->out[0] = lower_result(w, i);
    op->flops = (double)n->out[0]->dim[1].bound;
    return 1;
}

/* True if each thread computes the norm of a row for itself: that takes less time than a barrier.
 * The result must not outlive the block. */
static bool norms_in_each(const Lower *w, const Tensor *result)
{
    const PlanOptions *o = &w->plan->options;
    const PlanBlock *b = w->block;
    const bool lasts = result->kind != TENSOR_TEMP || result->output || result->holds || result->alias_of || result == b->block->carry_out;
    return b->rows == 1 && o->max_threads > 1 && o->target == TARGET_PANELS && !o->taps && result->rank == 2 && !lasts;
}

static int lower_norm(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    const bool each = norms_in_each(w, n->out[0]);
    PlanOp *op = lower_op(w, n, KERNEL_NORM, each ? SPLIT_EACH_THREAD : SPLIT_FIRST_THREAD, 1);
    op->weights = lower_packed(w, FORMAT_VECTORS_F32, n->in[1], n->in[2]);
    op->in[0] = lower_buffer(w, n->in[0]);
    op->out[0] = each ? lower_copies(w, n->out[0]) : lower_result(w, i);
    op->flops = 8.0 * (double)n->out[0]->dim[1].bound;
    return 1;
}

static int lower_linear(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    if (lower_joined(w, i)) return 1;
    const Node *activation = lower_activation_after(w, i);
    int64_t in = n->in[1]->dim[1].bound, out = n->in[1]->dim[0].bound;
    PlanOp *op = lower_op(w, n, KERNEL_LINEAR, SPLIT_COLUMNS, lower_groups(out));
    op->weights = lower_panels(w, n->in[1], n->in[2]);
    op->in[0] = lower_buffer(w, n->in[0]);
    if (activation) {
        op->activation = activation->kind;
        op->result = activation->out[0];
    }
    op->out[0] = lower_buffer(w, op->result);
    op->flops = 2.0 * (double)in * (double)out + (n->in[2] ? (double)out : 0) + (activation ? (double)out : 0);
    return activation ? 2 : 1;
}

static int lower_rotary(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_ROTARY, SPLIT_HEADS, n->heads);
    op->weights = lower_packed(w, FORMAT_TABLE_F32, n->in[1], NULL);
    op->in[0] = lower_buffer(w, n->in[0]);
    op->in[2] = lower_buffer(w, n->in[2]);
    op->out[0] = lower_result(w, i);
    op->flops = 3.0 * (double)n->heads * (double)n->dims;
    return 1;
}

static int lower_gate(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_GATE, SPLIT_COLUMNS, lower_groups(n->out[0]->dim[1].bound));
    op->activation = n->kind;
    op->in[0] = lower_buffer(w, n->in[0]);
    op->in[1] = lower_buffer(w, n->in[1]);
    op->out[0] = lower_result(w, i);
    op->flops = 8.0 * (double)n->out[0]->dim[1].bound;
    return 1;
}

static int lower_pool(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_POOL, SPLIT_FIRST_THREAD, 1);
    op->in[0] = lower_buffer(w, n->in[0]);
    op->in[1] = lower_buffer(w, n->in[1]);
    op->out[0] = lower_buffer(w, n->out[0]);
    op->flops = (double)n->out[0]->dim[1].bound;            /* each row is added once */
    return 1;
}

static int lower_scale(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_SCALE, SPLIT_COLUMNS, lower_groups(n->out[0]->dim[1].bound));
    op->in[0] = lower_buffer(w, n->in[0]);
    op->out[0] = lower_result(w, i);
    op->flops = (n->softcap > 0 ? 10.0 : 1.0) * (double)n->out[0]->dim[1].bound;
    return 1;
}

/* The kernels of element-wise operations, by operation. */
static const Kernel element_kernels[OP_KINDS] = {
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) [OP_##id] = KERNEL_##id,
#include "ops.def"
#undef OP
};

const OpRow *kernel_element(Kernel kernel)
{
    for (int i = 0; i < OP_KINDS; i++)
        if (op_rows[i].element && element_kernels[i] == kernel) return &op_rows[i];
    return NULL;
}

static int lower_element(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, element_kernels[n->op], SPLIT_COLUMNS, lower_groups(n->out[0]->dim[1].bound));
    for (int k = 0; k < op_rows[n->op].inputs; k++) op->in[k] = lower_buffer(w, n->in[k]);
    op->out[0] = lower_result(w, i);
    op->flops = (double)n->out[0]->dim[1].bound;
    return 1;
}

static int lower_activation(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    const Tensor *result = lower_as_rows(w, n->out[0]);
    PlanOp *op = lower_op(w, n, KERNEL_ACTIVATION, SPLIT_COLUMNS, lower_groups(result->dim[1].bound));
    op->result = result;
    op->activation = n->kind;
    op->in[0] = lower_buffer(w, n->in[0]);
    op->out[0] = lower_result(w, i);
    op->flops = n->kind == RT_IDENTITY ? 0 : (double)result->dim[1].bound;
    return 1;
}

/* Add an operation that stores rows of keys or values in `cache` at `positions`. */
static void store(Lower *w, const Node *n, Buffer *cache, Buffer *x, Buffer *positions)
{
    bool values = cache->layout == LAYOUT_VALUES;
    const bool ring = n->ring && w->plan->options.target == TARGET_PANELS;
    const Kernel kernel = ring ? values ? KERNEL_RING_V : KERNEL_RING_K : values ? KERNEL_STORE_V : KERNEL_STORE_K;
    PlanOp *op = lower_op(w, n, kernel, SPLIT_HEADS, cache->heads);
    op->result = cache->tensor;
    op->in[1] = x;
    op->in[2] = positions;
    op->out[0] = cache;
}

/* Set how far a sequence may be rolled back with a ring buffer. Plans with TARGET_ROW_MAJOR, which
 * have no ring buffers, get the same limit, so that all engines behave alike. */
static void set_back(Lower *w, const Node *n)
{
    if (n->ring && pad16(n->ring) < pad16(n->in[0]->dim[0].bound)) w->plan->back = (int)(n->ring - n->window + 1);
}

static int lower_append(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    bool panels = w->plan->options.target == TARGET_PANELS;
    set_back(w, n);
    Buffer *cache = panels ? lower_cache(w, n->in[0], n) : lower_buffer(w, n->in[0]);
    store(w, n, cache, lower_buffer(w, n->in[1]), lower_buffer(w, n->in[2]));
    w->buffer_of[n->out[0]->id] = cache;
    return 1;
}

/* The keys or values for attention: a cache is used as it is; with TARGET_PANELS, rows are first
 * stored in panels. */
static Buffer *attention_operand(Lower *w, const Node *n, int input)
{
    const Tensor *t = n->in[input];
    Buffer *b = lower_buffer(w, t);
    if (w->plan->options.target != TARGET_PANELS || !buffer_has_rows(b)) return b;
    bool values = input == 2;
    Buffer *panels = lower_new_buffer(w, lower_name(w, arena_format(w->arena, "%s_panels", b->variable)), t, PLACE_SCRATCH,
                                values ? LAYOUT_VALUES : LAYOUT_KEYS);
    lower_size_cache(panels, n->kv_heads, t->dim[0].bound, t->dim[1].bound / n->kv_heads);
    lower_local(w, panels);
    store(w, n, panels, b, lower_buffer(w, n->in[4]));
    return panels;
}

static int lower_attention(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    Buffer *keys = attention_operand(w, n, 1), *values = attention_operand(w, n, 2);
    const bool window = n->window && w->plan->options.target == TARGET_PANELS;
    PlanOp *op = lower_op(w, n, window ? KERNEL_WINDOW : KERNEL_ATTENTION, SPLIT_HEADS, n->heads);
    op->in[0] = lower_buffer(w, n->in[0]);
    op->in[1] = keys;
    op->in[2] = values;
    op->in[3] = lower_buffer(w, n->in[3]);
    if (n->in[5]) op->in[5] = lower_buffer(w, n->in[5]);
    if (n->in[6]) op->in[6] = lower_buffer(w, n->in[6]);
    if (n->in[8]) op->in[8] = lower_buffer(w, n->in[8]);
    if (n->in[7]) op->weights = lower_packed(w, FORMAT_DISTANCE_F32, n->in[7], NULL);
    op->out[0] = lower_buffer(w, n->out[0]);
    op->flops = 2.0 * (double)(n->in[0]->dim[1].bound + n->out[0]->dim[1].bound);
    if (w->plan->options.target == TARGET_PANELS) {
        const char *name = lower_name(w, arena_format(w->arena, "%s_scratch", op->out[0]->variable));
        Buffer *s = lower_new_buffer(w, name, n->out[0], PLACE_SCRATCH, LAYOUT_THREADS);
        s->heads = w->plan->options.max_threads;
        s->rows = plan_score_rows(n);
        s->width = s->stride = plan_score_stride(keys);
        s->bytes = (size_t)(s->heads * s->rows * s->stride) * sizeof(float);
        op->scratch = lower_local(w, s);
    }
    for (int r = 1; r < 3; r++) {
        bool used = w->plan->options.target == TARGET_ROW_MAJOR || lower_used_after(w, n->out[r], i);
        /* If it is only tapped, lower_tap sets it. */
        bool wanted = n->out[r]->output || (used && !lower_tapped(w, n->out[r]));
        if (wanted) op->out[r] = lower_buffer(w, n->out[r]);
    }
    return 1;
}

static int lower_vocabulary(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, n->op == OP_ARGMAX ? KERNEL_ARGMAX : KERNEL_LOG_SOFTMAX, SPLIT_FIRST_THREAD, 1);
    op->in[0] = lower_buffer(w, n->in[0]);
    op->out[0] = lower_result(w, i);
    op->flops = (double)n->in[0]->dim[1].bound * (n->op == OP_ARGMAX ? 1 : 12);
    return 1;
}

/* Threads divide an xf.op by the rows of its result. Its FLOPs are unknown and count as 0. */
static int lower_custom(Lower *w, int i)
{
    const Node *n = w->block->block->nodes[i];
    PlanOp *op = lower_op(w, n, KERNEL_CUSTOM, SPLIT_ROWS, n->out[0]->dim[0].bound);
    for (int k = 0; k < n->custom->input_count; k++) {
        const Tensor *t = n->in[k];
        if (t->kind == TENSOR_PARAM) op->params[k] = lower_packed(w, t->rank == 1 ? FORMAT_VECTORS_F32 : FORMAT_TABLE_F32, t, NULL);
        else op->in[k] = lower_buffer(w, t);
    }
    op->out[0] = lower_buffer(w, n->out[0]);
    return 1;
}

typedef int Lowering(Lower *w, int i);
static Lowering *const lowerings[OP_KINDS] = {
    [OP_EMBED] = lower_embed,         [OP_POSITION] = lower_position,     [OP_NORM] = lower_norm,
    [OP_LINEAR] = lower_linear,       [OP_ACTIVATION] = lower_activation,
    [OP_APPEND] = lower_append,       [OP_ATTENTION] = lower_attention,   [OP_LOG_SOFTMAX] = lower_vocabulary,
    [OP_ARGMAX] = lower_vocabulary,   [OP_GATE] = lower_gate,             [OP_ROTARY] = lower_rotary,
    [OP_SCALE] = lower_scale,           [OP_POOL] = lower_pool,
    [OP_CUSTOM] = lower_custom,
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) [OP_##id] = lower_element,
#include "ops.def"
#undef OP
};

/* The number of rows assumed for the block of an xf.graph, which carries nothing and whose nodes
 * differ in their rows. */
enum { MANY_ROWS = 2 };

/* ---- blocks and programs --------------------------------------------------------------------------------- */

static PlanBlock *lower_block(Lower *w, const Block *b, const Program *program, Buffer *carried)
{
    Plan *p = w->plan;
    PlanBlock *pb = arena_alloc(w->arena, sizeof *pb);
    pb->block = b;
    pb->count = program->rows;
    const Tensor *rows = b->carry_in ? b->carry_in : b->carry_out;
    pb->rows = rows ? rows->dim[0].bound : MANY_ROWS;
    p->blocks = lower_grow(w, p->blocks, p->block_count, sizeof *p->blocks);
    p->blocks[p->block_count++] = w->block = pb;
    count_uses(w, b);
    if (b->carry_in) {
        if (!carried) die("nothing is passed to %s", b->name);
        w->buffer_of[b->carry_in->id] = pb->carry_in = carried;
    }
    for (int i = 0; i < b->count;) {
        if (w->lowered[b->nodes[i]->out[0]->id]) {
            i++;
            continue;
        }
        int first_op = pb->op_count, taken = lowerings[b->nodes[i]->op](w, i);
        for (int j = 0; j < taken; j++)
            if (j + 1 == taken) lower_tap(w, b->nodes[i + j], first_op);
        i += taken;
    }
    lower_rounded(w);
    return pb;
}

/* The result of a block outlives it: move its buffer from the block to the plan. */
static void leave(Lower *w, PlanBlock *pb)
{
    if (!pb->block->carry_out) return;
    Buffer *out = pb->carry_out = w->buffer_of[pb->block->carry_out->id];
    if (out->block) {
        int kept = 0;
        for (int i = 0; i < pb->buffer_count; i++)
            if (pb->buffers[i] != out) pb->buffers[kept++] = pb->buffers[i];
        pb->buffer_count = kept;
        if (*pb->block->stem) {
            bool many = pb->count == COUNT_ROWS && pb->rows > 1;
            out->name = lower_name(w, arena_format(w->arena, "%s%s_x", pb->block->stem, many ? "_rows" : ""));
            out->variable = "x";
        }
        lower_whole(w, out);
    }
}

static PlanBlock *find_block(const Plan *p, const Block *b)
{
    for (int i = 0; i < p->block_count; i++)
        if (p->blocks[i]->block == b) return p->blocks[i];
    return NULL;
}

static void lower_program(Lower *w, const Program *program, PlanProgram *out)
{
    out->program = program;
    out->runs = arena_array(w->arena, (size_t)program->count, sizeof *out->runs);
    out->count = program->count;
    Buffer *carried = NULL;
    for (int i = 0; i < program->count; i++) {
        const Run *r = &program->runs[i];
        PlanBlock *pb = find_block(w->plan, r->block);
        if (!pb) {
            pb = lower_block(w, r->block, program, carried);
            leave(w, pb);
        }
        if (pb->carry_in != (r->block->carry_in ? carried : NULL))
            die("%s: %s is passed another buffer", program_name(program->kind), r->block->name);
        bool again = r->block->layers > 1;
        if (again && pb->carry_in != pb->carry_out) die("%s: its result is not in the buffer of its input", r->block->name);
        out->runs[i] = (PlanRun){ pb, r->first, r->count };
        carried = pb->carry_out;
    }
}

void plan_lower(Arena *a, Plan *p)
{
    const Graph *g = p->graph;
    Lower w = { .arena = a, .plan = p, .buffer_of = arena_array(a, (size_t)g->tensor_count + 1, sizeof *w.buffer_of),
                .uses = arena_array(a, (size_t)g->tensor_count + 1, sizeof *w.uses),
                .lowered = arena_array(a, (size_t)g->tensor_count + 1, sizeof *w.lowered) };
    lower_start_names(&w);
    p->formats = arena_array(a, (size_t)g->tensor_count + 1, sizeof *p->formats);
    for (int i = 0; i < g->tensor_count; i++) p->formats[g->tensors[i]->id] = plan_weight_format(g, g->tensors[i]);
    p->programs = arena_array(a, (size_t)g->program_count, sizeof *p->programs);
    p->program_count = g->program_count;
    for (int i = 0; i < g->program_count; i++) lower_program(&w, &g->programs[i], &p->programs[i]);
    /* Callers may also set inputs that nothing reads. */
    for (int i = 0; g->model->graph && i < g->tensor_count; i++)
        if (g->tensors[i]->kind == TENSOR_INPUT) lower_buffer(&w, g->tensors[i]);
    lower_tokenizer(&w);
}
