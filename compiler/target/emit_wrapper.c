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

static const char *activation_enum(Emit *e, int activation)
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
                            in, out, (long long)op->in[0]->stride, (long long)op->out[0]->stride, bias, activation_enum(e, op->activation));
    const char *sum = bias ? "x W^T + b" : "x W^T";
    w->doc = arena_format(e->arena, active ? "y = %s(%s)" : "y = %s%s", active ? activation_name(op->activation) : "", sum);
    w->doc = arena_format(e->arena, "%s    x [.., %lld]  W [%lld, %lld]  y [.., %lld]", w->doc, in, out, in, out);
    w->parts = (int)((out + 15) / 16);
}

static void norm_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    static const char *const kinds[] = { [NORMS_ANNOTATED] = "RT_NORM_ANNOTATED", [NORMS_LAYER] = "RT_NORM_LAYER" };
    static const char *const docs[] = { [NORMS_ANNOTATED] = "y = gain * (x - mean) / (std + eps) + bias, std divided by width - 1",
                                        [NORMS_LAYER] = "y = gain * (x - mean) / sqrt(variance + eps) + bias" };
    long long width = width_of(op->out[0]);
    w->name = arena_format(e->arena, "norm_%lld%s", width, suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .x_stride = %lld, .y_stride = %lld, .kind = %s, .eps = %s }", width,
                            (long long)op->in[0]->stride, (long long)op->out[0]->stride, kinds[op->node->kind], real(e, op->node->eps));
    w->doc = docs[op->node->kind];
}

static void embed_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    bool position = op->kernel == KERNEL_POSITION;
    w->name = arena_format(e->arena, "%s_%lld%s", position ? "position" : "embed", (long long)width_of(op->out[0]), suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .y_stride = %lld, .scale = %#.9gf }", (long long)width_of(op->out[0]),
                            (long long)op->out[0]->stride, position ? 1.0 : op->node->scale);
    w->doc = position ? "y = x + table[position]" : "y = scale * table[id]";
}

static void element_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    bool add = op->kernel == KERNEL_ADD;
    long long width = width_of(op->out[0]);
    const char *what = add ? "add" : op->activation == RT_IDENTITY ? "copy" : activation_name(op->activation);
    w->name = arena_format(e->arena, "%s_%lld%s", what, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .a_stride = %lld, .b_stride = %lld, .y_stride = %lld, .activation = %s }", width,
                            (long long)op->in[0]->stride, (long long)(add ? op->in[1]->stride : 0), (long long)op->out[0]->stride,
                            activation_enum(e, op->activation));
    w->doc = add ? "y = a + b" : op->activation == RT_IDENTITY ? "y = a" : arena_format(e->arena, "y = %s(a)", what);
    w->parts = (int)((width + 15) / 16);
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
    w->name = arena_format(e->arena, "attention_%dx%lld_%lld%s%s", n->heads, d_k, (long long)op->in[1]->rows, w->taps ? "_tapped" : "", suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %d, .kv_heads = %d, .d_k = %lld, .d_v = %lld, .capacity = %lld,\n"
                            ".q_stride = %lld, .out_stride = %lld, .tap_rows = %lld, .tap_columns = %lld, .scale = %s }",
                            n->heads, n->kv_heads, d_k, d_v, (long long)op->in[1]->rows, (long long)op->in[0]->stride,
                            (long long)op->out[0]->stride, (long long)(tap ? tap->rows : 0), (long long)(tap ? tap->stride : 0), real(e, n->scale));
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
    [KERNEL_LOG_SOFTMAX] = vocabulary_wrapper, [KERNEL_ARGMAX] = vocabulary_wrapper,
};

static bool same_wrapper(const Wrapper *a, const Wrapper *b)
{
    return a->kernel == b->kernel && a->split == b->split && a->taps == b->taps && strcmp(a->shape, b->shape) == 0;
}

const Wrapper *emit_wrapper(Emit *e, const PlanOp *op, const PlanBlock *block)
{
    (void)block;
    Wrapper w = { .kernel = op->kernel, .split = op->split };
    if (op->in[0]) w.x_stride = op->in[0]->stride;
    if (op->out[0]) w.y_stride = op->out[0]->stride;
    describe[op->kernel](e, op, &w);
    if (op->kernel == KERNEL_STORE_K || op->kernel == KERNEL_STORE_V) w.x_stride = op->in[1]->stride;
    if (op->kernel == KERNEL_ADD) w.z_stride = op->in[1]->stride;
    int namesakes = 0;
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
