/* emit_wrapper.c: from operations to one small function per distinct shape of a kernel, and their names. */
#include "emit.h"

#include <string.h>

static int64_t width_of(const Buffer *b) { return b->width; }

/* Names say what a reader wants to know: linear_64x256_relu, norm_64, attention_4x16. `_rows`: a share of rows. */
static const char *suffix(const PlanOp *op) { return op->split == SPLIT_ROWS ? "_rows" : ""; }

/* A constant of C: 0.25f, 1.0f. */
static const char *real(Emit *e, double x)
{
    const char *text = arena_format(e->arena, "%.9g", x);
    return arena_format(e->arena, "%s%s", text, strpbrk(text, ".e") ? "f" : ".0f");
}

static const char *activation_name(int activation)
{
    int n;
    return field_words("activations", &n)[activation];
}

const char *emit_activation(Emit *e, int activation)
{
    static const char *const names[] = {
#define RT_ACTIVATION(id, name, formula) [RT_##id] = #id,
#include "../../runtime/activations.def"
#undef RT_ACTIVATION
    };
    return arena_format(e->arena, "RT_%s", names[activation]);
}

static void linear_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Tensor *m = op->weights->tensor[0];
    long long in = m->dim[1].bound, out = m->dim[0].bound;
    bool bias = op->weights->tensor[1], active = op->activation != RT_IDENTITY;
    w->name = arena_format(e->arena, "linear_%lldx%lld%s%s%s%s", in, out, bias ? "" : "_unbiased", active ? "_" : "",
                           active ? activation_name(op->activation) : "", suffix(op));
    w->shape = arena_format(e->arena, "{ .in = %lld, .out = %lld, .x_stride = %lld, .y_stride = %lld, .has_bias = %d, .activation = %s }",
                            in, out, (long long)op->in[0]->stride, (long long)op->out[0]->stride, bias, emit_activation(e, op->activation));
    const char *sum = bias ? "x W^T + b" : "x W^T";
    w->doc = arena_format(e->arena, active ? "y = %s(%s)" : "y = %s%s", active ? activation_name(op->activation) : "", sum);
    w->doc = arena_format(e->arena, "%s    x [.., %lld]  W [%lld, %lld]  y [.., %lld]", w->doc, in, out, in, out);
    w->parts = (int)((out + 15) / 16);
}

static void norm_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    static const char *const kinds[] = { [NORMS_ANNOTATED] = "RT_NORM_ANNOTATED", [NORMS_LAYER] = "RT_NORM_LAYER",
                                         [NORMS_RMS] = "RT_NORM_RMS" };
    static const char *const docs[] = { [NORMS_ANNOTATED] = "y = gain * (x - mean) / (std + eps) + bias, std divided by width - 1",
                                        [NORMS_LAYER] = "y = gain * (x - mean) / sqrt(variance + eps) + bias",
                                        [NORMS_RMS] = "y = gain * x / sqrt(mean(x * x) + eps)" };
    int heads = op->node->heads > 1 ? op->node->heads : 1;
    long long width = width_of(op->out[0]) / heads;
    const char *each = heads > 1 ? arena_format(e->arena, "%dx", heads) : "";
    w->name = arena_format(e->arena, "norm_%s%lld%s", each, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %d, .width = %lld, .x_stride = %lld, .y_stride = %lld, .kind = %s, .eps = %s }", heads, width,
                            (long long)op->in[0]->stride, (long long)op->out[0]->stride, kinds[op->node->kind], real(e, op->node->eps));
    w->doc = docs[op->node->kind];
}

static void embed_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    bool position = op->kernel == KERNEL_POSITION;
    w->name = arena_format(e->arena, "%s_%lld%s", position ? "position" : "embed", (long long)width_of(op->out[0]), suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .y_stride = %lld, .scale = %s }", (long long)width_of(op->out[0]),
                            (long long)op->out[0]->stride, real(e, position ? 1.0 : op->node->scale));
    w->doc = position ? "y = x + table[position]" : "y = scale * table[id]";
}

static void element_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    bool add = op->kernel == KERNEL_ADD, gate = op->kernel == KERNEL_GATE;
    long long width = width_of(op->out[0]);
    bool copy = op->kernel == KERNEL_ACTIVATION && op->activation == RT_IDENTITY;
    const char *act = activation_name(op->activation);
    const char *what = add ? "add" : copy ? "copy" : gate ? arena_format(e->arena, "%s_gate", act) : act;
    w->name = arena_format(e->arena, "%s_%lld%s", what, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .a_stride = %lld, .b_stride = %lld, .y_stride = %lld, .activation = %s }", width,
                            (long long)op->in[0]->stride, (long long)(add || gate ? op->in[1]->stride : 0), (long long)op->out[0]->stride,
                            emit_activation(e, op->activation));
    w->doc = add ? "y = a + b" : copy ? "y = a" : arena_format(e->arena, gate ? "y = %s(a) * b" : "y = %s(a)", act);
    w->parts = (int)((width + 15) / 16);
}

static void rotary_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Node *n = op->node;
    long long width = width_of(op->out[0]) / n->heads;
    w->name = arena_format(e->arena, "rotary_%dx%lld%s", n->heads, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %d, .width = %lld, .dims = %d, .interleaved = %d, .x_stride = %lld, .y_stride = %lld }",
                            n->heads, width, n->dims, n->interleaved, (long long)op->in[0]->stride, (long long)op->out[0]->stride);
    w->doc = arena_format(e->arena, "turn %d of %lld columns of each head by position * rate, in pairs (%s)", n->dims, width,
                          n->interleaved ? "2i, 2i + 1" : "i, i + dims / 2");
    w->parts = n->heads;
}

static void store_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Buffer *c = op->out[0];
    bool keys = op->kernel == KERNEL_STORE_K;
    w->name = arena_format(e->arena, "store_%s_%lldx%lld_%lld%s", keys ? "keys" : "values", (long long)c->heads, (long long)c->width,
                           (long long)c->rows, suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %lld, .width = %lld, .capacity = %lld, .x_stride = %lld }", (long long)c->heads,
                            (long long)c->width, (long long)c->rows, (long long)op->in[1]->stride);
    w->doc = arena_format(e->arena, keys ? "cache[head][position / 16][.. %lld][position %% 16] = x" : "cache[head][.. %lld / 16][position][16] = x",
                          (long long)c->width);
    w->parts = (int)c->heads;
}

static void attention_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Node *n = op->node;
    long long d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->out[0]->dim[1].bound / n->heads;
    const Buffer *tap = op->out[1] ? op->out[1] : op->out[2];
    w->taps = tap != NULL;
    w->bias = op->weights != NULL;
    w->masked = op->in[6] != NULL;
    w->reach = w->bias ? (op->weights->tensor[0]->dim[1].bound + 1) / 2 : 0;
    w->mask_stride = w->masked ? op->in[6]->stride : 0;
    w->name = arena_format(e->arena, "attention_%dx%lld_%lld%s%s%s%s", n->heads, d_k, (long long)op->in[1]->rows, w->bias ? "_biased" : "",
                           w->masked ? "_masked" : "", w->taps ? "_tapped" : "", suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %d, .kv_heads = %d, .d_k = %lld, .d_v = %lld, .capacity = %lld,\n"
                            "    .q_stride = %lld, .out_stride = %lld, .tap_rows = %lld, .tap_columns = %lld, .scale = %s%s }",
                            n->heads, n->kv_heads, d_k, d_v, (long long)op->in[1]->rows, (long long)op->in[0]->stride,
                            (long long)op->out[0]->stride, (long long)(tap ? tap->rows : 0), (long long)(tap ? tap->stride : 0), real(e, n->scale),
                            n->softcap > 0 ? arena_format(e->arena, ", .softcap = %s", real(e, n->softcap)) : "");
    w->doc = arena_format(e->arena, "out = softmax(q k^T * %.9g) v, %d heads, over the first visible[row] positions", n->scale, n->heads);
    w->parts = n->heads;
    w->z_stride = tap ? tap->stride : 0;
}

static void vocabulary_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    bool argmax = op->kernel == KERNEL_ARGMAX;
    w->name = arena_format(e->arena, "%s_%lld%s", argmax ? "argmax" : "log_softmax", (long long)width_of(op->in[0]), suffix(op));
    w->shape = arena_format(e->arena, "{ .size = %lld, .stride = %lld }", (long long)width_of(op->in[0]), (long long)op->in[0]->stride);
    w->doc = argmax ? "y = index of the first maximum of x" : "y = x - log(sum(exp(x)))";
}

typedef void Describe(Emit *e, const PlanOp *op, Wrapper *w);
static Describe *const describe[KERNELS] = {
    [KERNEL_LINEAR] = linear_wrapper,       [KERNEL_NORM] = norm_wrapper,           [KERNEL_EMBED] = embed_wrapper,
    [KERNEL_POSITION] = embed_wrapper,      [KERNEL_ADD] = element_wrapper,         [KERNEL_ACTIVATION] = element_wrapper,
    [KERNEL_STORE_K] = store_wrapper,       [KERNEL_STORE_V] = store_wrapper,       [KERNEL_ATTENTION] = attention_wrapper,
    [KERNEL_GATE] = element_wrapper,        [KERNEL_ROTARY] = rotary_wrapper,
    [KERNEL_LOG_SOFTMAX] = vocabulary_wrapper, [KERNEL_ARGMAX] = vocabulary_wrapper,
};

/* Whether a function of a block has a variable of that name. */
static bool is_variable(const Plan *p, const char *name)
{
    for (int i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i]->variable, name) == 0) return true;
    for (int i = 0; i < p->block_count; i++)
        for (int k = 0; k < p->blocks[i]->buffer_count; k++)
            if (strcmp(p->blocks[i]->buffers[k]->variable, name) == 0) return true;
    return false;
}

static bool same_wrapper(const Wrapper *a, const Wrapper *b)
{
    bool extras = a->taps == b->taps && a->bias == b->bias && a->masked == b->masked && a->reach == b->reach && a->mask_stride == b->mask_stride;
    return a->kernel == b->kernel && a->split == b->split && extras && strcmp(a->shape, b->shape) == 0;
}

const Wrapper *emit_wrapper(Emit *e, const PlanOp *op, const PlanBlock *block)
{
    (void)block;
    Wrapper w = { .op = op, .kernel = op->kernel, .split = op->split };
    if (op->in[0]) w.x_stride = op->in[0]->stride;
    if (op->out[0]) w.y_stride = op->out[0]->stride;
    describe[op->kernel](e, op, &w);
    if (op->kernel == KERNEL_STORE_K || op->kernel == KERNEL_STORE_V) w.x_stride = op->in[1]->stride;
    if (op->kernel == KERNEL_ADD || op->kernel == KERNEL_GATE) w.z_stride = op->in[1]->stride;
    int namesakes = 0;
    while (is_variable(e->plan, w.name)) w.name = arena_format(e->arena, "%s_", w.name);
    for (int i = 0; i < e->wrapper_count; i++) {
        if (same_wrapper(&e->wrappers[i], &w)) return &e->wrappers[i];
        size_t n = strlen(w.name);
        namesakes += strncmp(e->wrappers[i].name, w.name, n) == 0 && (e->wrappers[i].name[n] == 0 || strncmp(e->wrappers[i].name + n, "_v", 2) == 0);
    }
    if (namesakes) w.name = arena_format(e->arena, "%s_v%d", w.name, namesakes + 1);
    if (e->wrapper_count == MAX_WRAPPERS) die("more than %d distinct shapes of kernels", MAX_WRAPPERS);
    e->wrappers[e->wrapper_count] = w;
    return &e->wrappers[e->wrapper_count++];
}
