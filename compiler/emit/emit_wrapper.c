/* emit_wrapper.c: the wrappers of operations: one small, named function per kernel and shape. */
#include "custom.h"
#include "emit.h"

#include <string.h>

static int64_t width_of(const Buffer *b) { return b->width; }

/* Names contain the main parts of a shape: linear_64x256_relu, norm_64, attention_4x16_80.
 * Those of wrappers for a share of rows, except xf.ops, end in `_rows`. */
static const char *suffix(const PlanOp *op) { return op->split == SPLIT_ROWS ? "_rows" : ""; }

/* "_int8"; "" for f32. */
static const char *of_format(Emit *e, const PlanOp *op)
{
    const Format f = op->weights->format;
    return format_is_narrow(f) ? arena_format(e->arena, "_%s", format_rows[f].word) : "";
}

/* The format of keys and values: "_f16"; "" for f32. */
static const char *of_cache(const PlanOp *op)
{
    static const char *const words[KV_DTYPES] = { [KV_DTYPES_F32] = "", [KV_DTYPES_F16] = "_f16", [KV_DTYPES_INT8] = "_int8" };
    return words[plan_op_kv_dtype(op)];
}

static const char *activation_name(int activation)
{
    int n;
    return field_words("activations", &n)[activation];
}

const char *emit_activation(Emit *e, int activation)
{
    static const char *const names[] = {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) [RT_##id] = #id,
#include "activations.def"
#undef RT_ACTIVATION
    };
    return arena_format(e->arena, "RT_%s", names[activation]);
}

/* RtLinear's one_stream: the cut decides, else the plan. */
static bool one_stream(const Emit *e, LinearCut cut)
{
    const int says = cut_rows[cut].one_stream;
    return says < 0 ? e->plan->one_stream : says == 1;
}

static const char *field_of(const Emit *e, LinearCut cut)
{
    return cut_rows[cut].field ? arena_format(e->arena, ", .%s = 1", cut_rows[cut].field) : "";
}

/* A field of a shape, left out if it is 0. */
static const char *activation_field(Emit *e, int activation)
{
    return activation == RT_IDENTITY ? "" : arena_format(e->arena, ", .activation = %s", emit_activation(e, activation));
}

static const char *tap_fields(Emit *e, const Buffer *tap)
{
    if (!tap) return "";
    return arena_format(e->arena, ", .tap_rows = %lld, .tap_columns = %lld", (long long)tap->rows, (long long)tap->stride);
}

static void linear_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    long long in = op->weights->tensor[0]->dim[1].bound, out = op->result->dim[op->result->rank - 1].bound;
    bool bias = op->weights->tensor[1], active = op->activation != RT_IDENTITY, gate = op->kernel == KERNEL_LINEAR_GATE;
    w->name = arena_format(e->arena, "linear_%lldx%lld%s%s%s%s%s%s", in, out, of_format(e, op), bias ? "" : "_unbiased", active ? "_" : "",
                           active ? activation_name(op->activation) : "", gate ? "_gate" : op->kernel == KERNEL_LINEAR_ADD ? "_add" : "",
                           suffix(op));
    w->shape = arena_format(e->arena, "{ .in = %lld, .out = %lld, .x_stride = %lld, .y_stride = %lld, .has_bias = %d%s%s }",
                            in, out, (long long)op->in[0]->stride, (long long)op->out[0]->stride, bias, activation_field(e, op->activation),
                            arena_format(e->arena, "%s%s", one_stream(e, w->cut) ? ", .one_stream = 1" : "", field_of(e, w->cut)));
    const char *sum = bias ? "x W^T + b" : "x W^T";
    w->doc = arena_format(e->arena, active ? "y = %s(%s)" : "y = %s%s", active ? activation_name(op->activation) : "", sum);
    if (op->kernel == KERNEL_LINEAR_ADD) w->doc = arena_format(e->arena, "y = a + %s", w->doc + strlen("y = "));
    if (gate) w->doc = arena_format(e->arena, "%s * (%s)", w->doc, bias ? "x U^T + c" : "x U^T");
    w->doc = arena_format(e->arena, "%s    x [.., %lld]  W [%lld, %lld]  y [.., %lld]", w->doc, in, out, in, out);
    w->parts = (int)((out + 15) / 16);
    w->rounds = plan_op_rounds(op);
}

static void norm_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    static const char *const kinds[] = { [NORMS_ANNOTATED] = "RT_NORM_ANNOTATED", [NORMS_LAYER] = "RT_NORM_LAYER",
                                         [NORMS_RMS] = "RT_NORM_RMS" };
    static const char *const docs[] = { [NORMS_ANNOTATED] = "y = gain * (x - mean) / (std + eps) + bias, std with divisor width - 1",
                                        [NORMS_LAYER] = "y = gain * (x - mean) / sqrt(variance + eps) + bias",
                                        [NORMS_RMS] = "y = gain * x / sqrt(mean(x * x) + eps)" };
    int heads = op->node->heads > 1 ? op->node->heads : 1;
    long long width = width_of(op->out[0]) / heads;
    const char *each = heads > 1 ? arena_format(e->arena, "%dx", heads) : "";
    w->name = arena_format(e->arena, "norm_%s%lld%s", each, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %d, .width = %lld, .x_stride = %lld, .y_stride = %lld, .kind = %s, .eps = %s }", heads, width,
                            (long long)op->in[0]->stride, (long long)op->out[0]->stride,
                            kinds[op->node->kind], emit_real(e->arena, op->node->eps));
    const char *shape = heads > 1 ? arena_format(e->arena, "%d, %lld", heads, width) : emit_number(e, width);
    w->doc = arena_format(e->arena, "%s    x, y [.., %s]", docs[op->node->kind], shape);
}

static void embed_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    bool position = op->kernel == KERNEL_POSITION;
    w->name = arena_format(e->arena, "%s_%lld%s%s", position ? "position" : "embed", (long long)width_of(op->out[0]), of_format(e, op), suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .y_stride = %lld, .scale = %s }", (long long)width_of(op->out[0]),
                            (long long)op->out[0]->stride,
                            emit_real(e->arena, position ? 1.0 : op->node->scale));
    w->doc = arena_format(e->arena, position ? "y = x + table[position]    x, y [.., %lld]" : "y = scale * table[id]    y [.., %lld]",
                          (long long)width_of(op->out[0]));
}

/* A word of an element-wise formula: for a comment or, if `plain`, as freestanding C on floats. */
static const char *element_word(Emit *e, const char *word, const char *a, const char *b, bool plain)
{
    static const char *const functions[] = { "exp", "log", "tanh", "sqrt" };
    if (strcmp(word, "a") == 0) return a;
    if (strcmp(word, "b") == 0) return b;
    for (size_t i = 0; plain && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(word, functions[i]) == 0) return arena_format(e->arena, "rt_plain_%s", word);
    const bool real = *word >= '0' && *word <= '9' && strpbrk(word, ".e");
    return plain && real ? arena_format(e->arena, "%sf", word) : word;
}

const char *emit_element(Emit *e, const OpRow *row, const char *a, const char *b, bool plain)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    Text t = text_new(e->arena);
    for (const char *s = row->doc; *s;) {
        const size_t n = strspn(s, letters);
        if (n) text_add(&t, element_word(e, arena_copy(e->arena, s, n), a, b, plain));
        else text_add_bytes(&t, s, 1);
        s += n ? n : 1;
    }
    return t.data;
}

static void element_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const OpRow *row = kernel_element(op->kernel);
    const long long width = width_of(op->out[0]), b_stride = row->inputs > 1 ? op->in[1]->stride : 0;
    w->name = arena_format(e->arena, "%s_%lld%s", row->name, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .a_stride = %lld, .b_stride = %lld, .y_stride = %lld }", width,
                            (long long)op->in[0]->stride, b_stride, (long long)op->out[0]->stride);
    w->doc = arena_format(e->arena, "y = %s    [.., %lld]", emit_element(e, row, "a", "b", false), width);
    w->parts = (int)((width + 15) / 16);
    w->z_stride = b_stride;
}

static void activation_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const bool gate = op->kernel == KERNEL_GATE, copy = !gate && op->activation == RT_IDENTITY;
    const long long width = width_of(op->out[0]), b_stride = gate ? op->in[1]->stride : 0;
    const char *act = activation_name(op->activation);
    const char *what = copy ? "copy" : gate ? arena_format(e->arena, "%s_gate", act) : act;
    w->name = arena_format(e->arena, "%s_%lld%s", what, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .a_stride = %lld, .b_stride = %lld, .y_stride = %lld%s }", width,
                            (long long)op->in[0]->stride, b_stride, (long long)op->out[0]->stride, activation_field(e, op->activation));
    w->doc = copy ? "y = a" : arena_format(e->arena, gate ? "y = %s(a) * b" : "y = %s(a)", act);
    w->doc = arena_format(e->arena, "%s    [.., %lld]", w->doc, width);
    w->parts = (int)((width + 15) / 16);
    w->z_stride = b_stride;
}

static void rotary_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Node *n = op->node;
    long long width = width_of(op->out[0]) / n->heads;
    w->name = arena_format(e->arena, "rotary_%dx%lld%s", n->heads, width, suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %d, .width = %lld, .dims = %d, .interleaved = %d, .x_stride = %lld, .y_stride = %lld }",
                            n->heads, width, n->dims, n->interleaved, (long long)op->in[0]->stride, (long long)op->out[0]->stride);
    w->doc = arena_format(e->arena, "rotate %d of %lld columns of each head by position * rate, in pairs (%s)    x, y [.., %d, %lld]", n->dims,
                          width, n->interleaved ? "2i, 2i + 1" : "i, i + dims / 2", n->heads, width);
    w->parts = n->heads;
}

static void store_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Buffer *c = op->out[0];
    bool keys = c->layout == LAYOUT_KEYS, ring = op->kernel == KERNEL_RING_K || op->kernel == KERNEL_RING_V;
    w->name = arena_format(e->arena, "%s_%s_%lldx%lld_%lld%s%s", ring ? "ring" : "store", keys ? "keys" : "values", (long long)c->heads,
                           (long long)c->width, (long long)c->rows, of_cache(op), suffix(op));
    w->shape = arena_format(e->arena, "{ .heads = %lld, .width = %lld, .capacity = %lld, .x_stride = %lld }", (long long)c->heads,
                            (long long)c->width, (long long)c->rows, (long long)op->in[1]->stride);
    w->doc = arena_format(e->arena, keys ? "cache[head][position / 16][.. %lld][position %% 16] = x" : "cache[head][.. %lld / 16][position][16] = x",
                          (long long)c->width);
    if (ring) w->doc = arena_format(e->arena, "%s, with position modulo %lld", w->doc, (long long)c->rows);
    if (c->kv_dtype == KV_DTYPES_F16) w->doc = arena_format(e->arena, "%s, as f16", w->doc);
    if (c->kv_dtype == KV_DTYPES_INT8) w->doc = arena_format(e->arena, "%s, as int8, with a scale for each %s", w->doc, keys ? "key" : "value");
    w->doc = arena_format(e->arena, "%s    x [.., %lld, %lld]", w->doc, (long long)c->heads, (long long)c->width);
    w->parts = (int)c->heads;
}

static const char *attention_shapes(Emit *e, const PlanOp *op, long long d_k, long long d_v, long long capacity)
{
    const Node *n = op->node;
    const char *scales = buffer_scale_bytes(op->in[1]) ? " and scales" : "";
    return arena_format(e->arena, "    q [.., %d, %lld]  k [%d][%lld][%lld][16]%s  v [%d][%lld][%lld][16]%s  out [.., %d, %lld]", n->heads, d_k,
                        n->kv_heads, capacity / 16, d_k, scales, n->kv_heads, (long long)pad16(d_v) / 16, capacity, scales, n->heads, d_v);
}

/* The argument of the softmax, in the names of the parameters. */
static const char *attention_scores(Emit *e, const Node *n, const Wrapper *w)
{
    const char *scores = arena_format(e->arena, "q k^T * %.9g", n->scale);
    if (n->softcap > 0) scores = arena_format(e->arena, "%.9g * tanh(%s / %.9g)", n->softcap, scores, n->softcap);
    return arena_format(e->arena, "%s%s%s", scores, w->bias ? " + bias" : "", w->added ? " + added" : "");
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
    w->added = op->in[8] != NULL;
    w->added_stride = w->added ? op->in[8]->stride : 0;
    w->added_head = w->added && op->in[8]->heads > 1 ? op->in[8]->rows * op->in[8]->stride : 0;
    w->name = arena_format(e->arena, "attention_%dx%lld_%lld%s%s%s%s%s%s", n->heads, d_k,
                           (long long)op->in[1]->rows, of_cache(op), w->bias ? "_biased" : "",
                           w->masked ? "_masked" : "",
                           w->added_head ? "_added_by_head" : w->added ? "_added" : "",
                           w->taps ? "_tapped" : "", suffix(op));
    const char *softcap = emit_real(e->arena, n->softcap);
    w->shape = arena_format(e->arena, "{ .heads = %d, .kv_heads = %d, .d_k = %lld, .d_v = %lld, .capacity = %lld, "
                            ".q_stride = %lld, .out_stride = %lld%s, .scale = %s%s }",
                            n->heads, n->kv_heads, d_k, d_v, (long long)op->in[1]->rows, (long long)op->in[0]->stride,
                            (long long)op->out[0]->stride, tap_fields(e, tap), emit_real(e->arena, n->scale),
                            n->softcap > 0 ? arena_format(e->arena, ", .softcap = %s", softcap)
                                           : "");
    w->doc = arena_format(e->arena, "out = softmax(%s) v, over the first visible[row] positions%s%s", attention_scores(e, n, w),
                          w->masked ? " where mask is not 0" : "", attention_shapes(e, op, d_k, d_v, (long long)op->in[1]->rows));
    w->parts = n->heads;
    w->z_stride = tap ? tap->stride : 0;
}

static void window_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Node *n = op->node;
    long long d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->out[0]->dim[1].bound / n->heads, window = n->window;
    const Buffer *tap = op->out[1] ? op->out[1] : op->out[2];
    w->taps = tap != NULL;
    w->both = op->in[5] != NULL;
    w->name = arena_format(e->arena, "window_%dx%lld_%lld%s%s%s%s", n->heads, d_k, window,
                           w->both ? "_both" : "", of_cache(op), w->taps ? "_tapped" : "", suffix(op));
    w->shape = arena_format(e->arena,
                            "{ .heads = %d, .kv_heads = %d, .d_k = %lld, .d_v = %lld, .capacity = %lld, .window = %lld%s, "
                            ".q_stride = %lld, .out_stride = %lld%s, .scale = %s, .softcap = %s }",
                            n->heads, n->kv_heads, d_k, d_v, (long long)op->in[1]->rows, window,
                            w->both ? ", .both = 1" : "", (long long)op->in[0]->stride,
                            (long long)op->out[0]->stride, tap_fields(e, tap), emit_real(e->arena, n->scale), emit_real(e->arena, n->softcap));
    const char *part = arena_format(e->arena, w->both ? "positions less than %lld from the row's own"
                                                      : "the last %lld of the first visible[row] positions", window);
    w->doc = arena_format(e->arena, "out = softmax(%s) v, over %s%s", attention_scores(e, n, w), part,
                          attention_shapes(e, op, d_k, d_v, (long long)op->in[1]->rows));
    w->parts = n->heads;
    w->z_stride = tap ? tap->stride : 0;
}

static const char *pool_kind(int64_t pooling)
{
    static const char *const kinds[] = { [POOLINGS_MEAN] = "RT_POOL_MEAN", [POOLINGS_CLS] = "RT_POOL_FIRST", [POOLINGS_MAX] = "RT_POOL_MAX",
        [POOLINGS_MEAN_SQRT] = "RT_POOL_MEAN_SQRT", [POOLINGS_WEIGHTEDMEAN] = "RT_POOL_WEIGHTED", [POOLINGS_LASTTOKEN] = "RT_POOL_LAST" };
    return kinds[pooling];
}

static void pool_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const FieldList *parts = op->node->parts;
    const long long width = width_of(op->in[0]);
    const char *kinds = "";
    int n;
    w->name = arena_format(e->arena, "pool_%lld", width);
    for (int i = 0; i < parts->count; i++) {
        kinds = arena_format(e->arena, "%s%s%s", kinds, i ? ", " : "", pool_kind(parts->value[i]));
        w->name = arena_format(e->arena, "%s_%s", w->name, field_words("poolings", &n)[parts->value[i]]);
    }
    w->shape = arena_format(e->arena, "{ .width = %lld, .x_stride = %lld, .parts = %d, .kind = { %s } }", width, (long long)op->in[0]->stride,
                            parts->count, kinds);
    w->doc = "y = the first visible[0] rows of x, pooled as the name says";
    w->parts = 1;
}

static void scale_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const Node *n = op->node;
    const long long width = width_of(op->out[0]);
    const bool capped = n->softcap > 0;
    w->name = arena_format(e->arena, "%s_%lld%s", capped ? "softcap" : "scale", width, suffix(op));
    w->shape = arena_format(e->arena, "{ .width = %lld, .x_stride = %lld, .y_stride = %lld, .scale = %s, .softcap = %s }", width,
                            (long long)op->in[0]->stride, (long long)op->out[0]->stride,
                            emit_real(e->arena, n->scale), emit_real(e->arena, n->softcap));
    w->doc = arena_format(e->arena, "y = %s    [.., %lld]", capped ? "softcap * tanh(scale * x / softcap)" : "scale * x", width);
    w->parts = (int)((width + 15) / 16);
}

static void vocabulary_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    const bool argmax = op->kernel == KERNEL_ARGMAX;
    const long long width = width_of(op->in[0]), stride = op->in[0]->stride;
    w->name = arena_format(e->arena, "%s_%lld%s", argmax ? "argmax" : "log_softmax", width, suffix(op));
    w->shape = argmax ? arena_format(e->arena, "{ .size = %lld, .x_stride = %lld }", width, stride)
                      : arena_format(e->arena, "{ .size = %lld, .x_stride = %lld, .y_stride = %lld }", width, stride,
                                     (long long)op->out[0]->stride);
    w->doc = arena_format(e->arena, argmax ? "y = index of the first maximum of x, or -1 if x contains NaN or +inf    x [.., %lld]  y [..]"
                                           : "y = x - log(sum(exp(x)))    [.., %lld]", width);
}

/* The wrapper's `shape` is the body of the function, so that it distinguishes wrappers: the same C
 * may be used with two shapes, and the same name for two C texts. */
static void custom_wrapper(Emit *e, const PlanOp *op, Wrapper *w)
{
    w->name = arena_format(e->arena, "%s_%lldx%lld", op->node->custom->name, (long long)op->out[0]->rows, (long long)op->out[0]->width);
    w->doc = custom_doc(e->arena, op);
    w->shape = custom_body(e->arena, op, false, false);
}

typedef void Describe(Emit *e, const PlanOp *op, Wrapper *w);
static Describe *const describe[KERNELS] = {
    [KERNEL_LINEAR] = linear_wrapper,       [KERNEL_LINEAR_GATE] = linear_wrapper,  [KERNEL_LINEAR_ADD] = linear_wrapper,
    [KERNEL_NORM] = norm_wrapper,           [KERNEL_EMBED] = embed_wrapper,
    [KERNEL_POSITION] = embed_wrapper,      [KERNEL_ACTIVATION] = activation_wrapper,
    [KERNEL_STORE_K] = store_wrapper,       [KERNEL_STORE_V] = store_wrapper,       [KERNEL_ATTENTION] = attention_wrapper,
    [KERNEL_GATE] = activation_wrapper,        [KERNEL_ROTARY] = rotary_wrapper,
    [KERNEL_RING_K] = store_wrapper,        [KERNEL_RING_V] = store_wrapper,        [KERNEL_WINDOW] = window_wrapper,
    [KERNEL_POOL] = pool_wrapper,
    [KERNEL_SCALE] = scale_wrapper,
    [KERNEL_CUSTOM] = custom_wrapper,
    [KERNEL_LOG_SOFTMAX] = vocabulary_wrapper, [KERNEL_ARGMAX] = vocabulary_wrapper,
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) [KERNEL_##id] = element_wrapper,
#include "ops.def"
#undef OP
};

static void add_variables(NameMap *m, Buffer *const *list, int n)
{
    for (int i = 0; i < n; i++) name_map_add(m, list[i]->variable, list[i]);
}

void emit_wrappers_begin(Emit *e)
{
    const Plan *p = e->plan;
    e->wrapper_of = name_map_new(e->arena);
    e->namesakes = name_map_new(e->arena);
    e->variables = name_map_new(e->arena);
    add_variables(e->variables, p->buffers, p->buffer_count);
    for (int i = 0; i < p->block_count; i++) {
        add_variables(e->variables, p->blocks[i]->buffers, p->blocks[i]->buffer_count);
        add_variables(e->variables, p->blocks[i]->views, p->blocks[i]->view_count);
    }
}

/* Everything that distinguishes wrappers. */
static const char *wrapper_key(Emit *e, const Wrapper *w)
{
    return arena_format(e->arena, "%s %d %d %d%d%d%d%d %lld %lld %lld %lld %s", plan_kernel_name(w->op),
                        w->kernel, w->split, w->taps, w->bias, w->masked, w->added, w->both,
                        (long long)w->reach, (long long)w->mask_stride, (long long)w->added_stride,
                        (long long)w->added_head, w->shape);
}

/* A unique name: `_` is appended while a variable has it, and `_v2`, `_v3` and so on if a wrapper
 * has it. */
static const char *own_name(Emit *e, const char *name)
{
    while (name_map_find(e->variables, name)) name = arena_format(e->arena, "%s_", name);
    int *n = name_map_find(e->namesakes, name);
    if (!n) name_map_add(e->namesakes, name, n = arena_alloc(e->arena, sizeof *n));
    return ++*n == 1 ? name : arena_format(e->arena, "%s_v%d", name, *n);
}

static void append_wrapper(Emit *e, Wrapper *w)
{
    if (e->wrapper_count == e->wrapper_room) {
        const int room = e->wrapper_room ? 2 * e->wrapper_room : 64;
        e->wrappers = arena_grow(e->arena, e->wrappers, (size_t)e->wrapper_room * sizeof *e->wrappers, (size_t)room * sizeof *e->wrappers);
        e->wrapper_room = room;
    }
    e->wrappers[e->wrapper_count++] = w;
}

static int64_t most_rows(const Plan *p)
{
    int64_t most = 0;
    for (int i = 0; i < p->block_count; i++)
        if (p->blocks[i]->rows > most) most = p->blocks[i]->rows;
    return most;
}

bool emit_has_threads(const Emit *e) { return e->plan->options.max_threads > 1; }

bool emit_takes_panels(const Emit *e, const Wrapper *w)
{
    return emit_has_threads(e) && e->plan->few_rows && w->split == SPLIT_ROWS && kernel_is_linear(w->kernel);
}

bool emit_can_cut(const Emit *e, const Wrapper *w, LinearCut cut)
{
    const CutRow *row = &cut_rows[cut];
    if (!kernel_is_linear(w->kernel) || cut == LINEAR_CUT_USUAL) return false;
    if (row->rows) return w->split == SPLIT_ROWS && most_rows(e->plan) > row->rows;
    if (row->field) return w->split == SPLIT_ROWS && (row->any_format || !format_is_quantised(w->op->weights->format));
    if (w->split == SPLIT_ROWS || w->op->weights->format != FORMAT_PANELS_F32) return false;
    return row->panels ? w->parts > row->panels : w->parts > 1 && e->plan->one_stream != (row->one_stream == 1);
}

/* Cut a linear as the tuning says for its name, or for all. */
static void tune(Emit *e, Wrapper *w)
{
    const Tuning *t = e->form.tuning;
    const char *name = w->name;
    if (!t || !kernel_is_linear(w->kernel)) return;
    w->tuned = tuning_call(t, name);
    const LinearCut cut = w->tuned ? w->tuned->take : t->every;
    if (!emit_can_cut(e, w, cut)) {
        if (cut != LINEAR_CUT_USUAL) w->tuned = NULL;
        return;
    }
    w->cut = cut;
    describe[w->kernel](e, w->op, w);       /* the cut changes its shape */
    w->name = name;
}

/* A comment with an equation and, after four spaces, its shapes, which move to a line of their own
 * if one line is too short. */
static const char *doc_lines(Emit *e, const char *doc)
{
    enum { ROOM = 94 };
    const char *shapes = strstr(doc, "    ");
    if (strlen(doc) <= ROOM || !shapes) return doc;
    return arena_format(e->arena, "%.*s\n * %s", (int)(shapes - doc), doc, shapes + strlen("    "));
}

const Wrapper *emit_wrapper(Emit *e, const PlanOp *op)
{
    Wrapper w = { .op = op, .kernel = op->kernel, .split = split_is_whole(op->split) ? SPLIT_FIRST_THREAD : op->split };
    if (op->in[0]) w.x_stride = op->in[0]->stride;
    if (op->out[0]) w.y_stride = op->out[0]->stride;
    describe[op->kernel](e, op, &w);
    if (kernel_is_store(op->kernel)) w.x_stride = op->in[1]->stride;
    const char *key = wrapper_key(e, &w);
    Wrapper *known = name_map_find(e->wrapper_of, key);
    if (known) return known;
    w.name = own_name(e, w.name);
    w.doc = doc_lines(e, w.doc);
    tune(e, &w);
    known = arena_alloc(e->arena, sizeof *known);
    *known = w;
    name_map_add(e->wrapper_of, key, known);
    append_wrapper(e, known);
    return known;
}
