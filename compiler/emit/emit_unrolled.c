/* emit_unrolled.c: NAME_kernels.h in plain C11: one function per distinct shape, with its numbers
 * in the text and the loops of most sums unrolled; no intrinsics, no library. For microcontrollers,
 * for other compilers, and for readers.
 *
 * Layouts are those of the library's kernels, so weights and state are the same. A function
 * computes rows r0 .. r1 and parts (panels, heads, groups) p0 .. p1: a thread's share of one and
 * all of the other, or spans of both for linears that threads may divide by panels. */
#include "emit_unrolled.h"
#include "runtime_text.h"

#include <string.h>

static void open_function(const UnrolledBody *b)
{
    const Split split = b->w->split;
    const char *span = emit_takes_panels(b->e, b->w) ? ", rt_span rows, rt_span panels" : split == SPLIT_ROWS ? ", rt_span rows"
                     : split == SPLIT_FIRST_THREAD ? "" : ", rt_span parts";
    text_printf(b->out, "/* %s */\nstatic inline void %s(%s%s)\n{\n", b->w->doc, b->w->name, b->parameters, span);
}

static void close_function(const UnrolledBody *b) { text_add(b->out, "}\n\n"); }

/* ---- linear ------------------------------------------------------------------------------------------------------ */

static const char linear_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int p = ${p0}; p < ${p1}; p++) {\n"
    "            const float *a = (const float *)w + (ptrdiff_t)p * ${panel}, *v = x + (ptrdiff_t)r * ${xs};\n"
    "            float *o = y + (ptrdiff_t)r * ${ys} + 16 * p, s[16];\n"
    "            for (int c = 0; c < 16; c++) s[c] = ${start};\n"
    "${bias}\n"
    "            ${sum}\n"
    "${gate}\n"
    "            for (int c = 0; c < ${last}; c++) o[c] = ${result};\n"
    "        }\n";

/* The sixteen outputs that the activated ones are multiplied by. Their panels follow all panels of
 * the activated linear. */
static const char gate_template[] =
    "            float t[16];\n"
    "            a = (const float *)w + (ptrdiff_t)(p + ${panels}) * ${panel};\n"
    "            for (int c = 0; c < 16; c++) t[c] = ${start};\n"
    "${bias}\n"
    "            ${sum}\n";

static void linear_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const int64_t in = b->op->weights->tensor[0]->dim[1].bound, out = b->op->result->dim[b->op->result->rank - 1].bound;
    const bool bias = b->op->weights->tensor[1];
    const char *act = "s[c]", *panel = emit_number(e, 16 * (in + (bias ? 1 : 0)));
    const char *start = bias ? "a[c]" : "0", *skip = bias ? "            a += 16;\n" : "";
    Text gate = text_new(e->arena);
    if (b->op->activation != RT_IDENTITY) act = arena_format(e->arena, "rt_plain_activate(%s, s[c])", emit_activation(e, b->op->activation));
    if (b->op->kernel == KERNEL_LINEAR_GATE) {
        text_fill(&gate, gate_template, "panels", emit_number(e, pad16(out) / 16), "panel", panel, "start", start, "bias", skip,
                  "sum", unrolled_sum(e, "t", "v", in, KV_DTYPES_F32), NULL);
        act = arena_format(e->arena, "%s * t[c]", act);
    }
    if (b->op->kernel == KERNEL_LINEAR_ADD) act = arena_format(e->arena, "b[(ptrdiff_t)r * %lld + 16 * p + c] + %s", (long long)b->w->y_stride, act);
    const char *last = out % 16 ? arena_format(e->arena, "(p == %lld ? %lld : 16)", (long long)(out / 16), (long long)(out % 16)) : "16";
    text_fill(b->out, linear_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "panel", panel,
              "xs", emit_number(e, b->w->x_stride), "ys", emit_number(e, b->w->y_stride), "start", start, "bias", skip,
              "sum", unrolled_sum(e, "s", "v", in, KV_DTYPES_F32), "gate", gate.data, "last", last, "result", act, NULL);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const char norm_template[] =
    "    const float *gain = w;\n"
    "${bias}\n"
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = 0; h < ${heads}; h++) {\n"
    "            const float *v = x + (ptrdiff_t)r * ${xs} + h * ${width};\n"
    "            float *o = y + (ptrdiff_t)r * ${ys} + h * ${width}, mean = 0, squares = 0, factor;\n"
    "${mean}\n"
    "            for (int i = 0; i < ${width}; i++) squares += (v[i] - mean) * (v[i] - mean);\n"
    "            factor = ${factor};\n"
    "            for (int i = 0; i < ${width}; i++) o[i] = (v[i] - mean) * factor * gain[i]${plus};\n"
    "        }\n";

static void norm_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    int heads = n->heads > 1 ? n->heads : 1;
    int64_t width = b->op->out[0]->width / heads;
    bool rms = n->kind == NORMS_RMS;
    const char *eps = emit_real(e->arena, n->eps);
    const char *mean = arena_format(e->arena, "            for (int i = 0; i < %lld; i++) mean += v[i];\n            mean /= %s;\n",
                                    (long long)width, emit_real(e->arena, (double)width));
    const bool annotated = n->kind == NORMS_ANNOTATED;
    const char *count = emit_real(e->arena, (double)(annotated ? width - 1 : width));
    const char *factor =
        arena_format(e->arena, annotated ? "1 / (rt_plain_sqrt(squares / %s) + %s)"
                                         : "rt_plain_rsqrt(squares / %s + %s)", count, eps);
    text_fill(b->out, norm_template, "r0", b->r0, "r1", b->r1, "heads", emit_number(e, heads), "width", emit_number(e, width),
              "xs", emit_number(e, b->w->x_stride), "ys", emit_number(e, b->w->y_stride), "mean", rms ? "" : mean, "factor", factor,
              "bias", rms ? "" : arena_format(e->arena, "    const float *bias = gain + %lld;\n", (long long)pad16(width)),
              "plus", rms ? "" : " + bias[i]", NULL);
}

static const char embed_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++) {\n"
    "        const float *v = (const float *)table + (ptrdiff_t)${index}[r] * ${row};\n"
    "        for (int i = 0; i < ${width}; i++) y[(ptrdiff_t)r * ${ys} + i] = ${value};\n"
    "    }\n";

static void embed_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    bool position = b->op->kernel == KERNEL_POSITION;
    const char *value = position ? arena_format(e->arena, "x[(ptrdiff_t)r * %lld + i] + v[i]", (long long)b->w->x_stride)
                                 : arena_format(e->arena, "%s * v[i]",
                                                emit_real(e->arena, b->op->node->scale));
    text_fill(b->out, embed_template, "r0", b->r0, "r1", b->r1, "index", position ? "positions" : "ids",
              "row", emit_number(e, b->op->weights->shape[1]), "width", emit_number(e, b->op->out[0]->width),
              "ys", emit_number(e, b->w->y_stride), "value", value, NULL);
}

static const char element_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int i = 16 * ${p0}; i < 16 * ${p1} && i < ${width}; i++)\n"
    "            y[(ptrdiff_t)r * ${ys} + i] = ${value};\n";

static void write_elements(const UnrolledBody *b, const char *value)
{
    text_fill(b->out, element_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "width", emit_number(b->e, b->op->out[0]->width),
              "ys", emit_number(b->e, b->w->y_stride), "value", value, NULL);
}

static const char *element_of(Emit *e, const char *rows, int64_t stride)
{
    return arena_format(e->arena, "%s[(ptrdiff_t)r * %lld + i]", rows, (long long)stride);
}

static void element_body(const UnrolledBody *b)
{
    const char *x = element_of(b->e, "a", b->w->x_stride), *z = element_of(b->e, "b", b->w->z_stride);
    write_elements(b, emit_element(b->e, kernel_element(b->op->kernel), x, z, true));
}

static void activation_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const char *value = element_of(e, "a", b->w->x_stride);
    if (b->op->activation != RT_IDENTITY || b->op->kernel == KERNEL_GATE)
        value = arena_format(e->arena, "rt_plain_activate(%s, %s)", emit_activation(e, b->op->activation), value);
    if (b->op->kernel == KERNEL_GATE) value = arena_format(e->arena, "%s * %s", value, element_of(e, "b", b->w->z_stride));
    write_elements(b, value);
}

/* One part of a pooled vector, for each column: the initial value, the statement for each further
 * row, and what is appended to the result. */
typedef struct PoolText { const char *start, *step, *end; } PoolText;
static const PoolText pool_texts[] = {
    [POOLINGS_MEAN] = { "x[i]", "v += x[(ptrdiff_t)r * ${xs} + i];", " / (float)visible[0]" },
    [POOLINGS_CLS] = { "x[i]", "", "" },
    [POOLINGS_MAX] = { "x[i]", "if (x[(ptrdiff_t)r * ${xs} + i] > v) v = x[(ptrdiff_t)r * ${xs} + i];", "" },
    [POOLINGS_MEAN_SQRT] = { "x[i]", "v += x[(ptrdiff_t)r * ${xs} + i];", " / rt_plain_sqrt((float)visible[0])" },
    [POOLINGS_WEIGHTEDMEAN] = { "x[i]", "v += (float)(r + 1) * x[(ptrdiff_t)r * ${xs} + i];",
                                " / (0.5f * (float)visible[0] * (float)(visible[0] + 1))" },
    [POOLINGS_LASTTOKEN] = { "x[(ptrdiff_t)(visible[0] - 1) * ${xs} + i]", "", "" },
};

static void pool_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const FieldList *parts = b->op->node->parts;
    const char *stride = emit_number(e, b->op->in[0]->stride), *width = emit_number(e, b->op->in[0]->width);
    bool counts = false;
    for (int p = 0; p < parts->count; p++) counts |= parts->value[p] != POOLINGS_CLS;
    if (!counts) text_add(b->out, "    (void)visible;      /* only the first row is read, and there is always one */\n");
    for (int p = 0; p < parts->count; p++) {
        const PoolText *t = &pool_texts[parts->value[p]];
        text_printf(b->out, "    for (int i = 0; i < %s; i++) {\n        float v = ", width);
        if (strstr(t->start, "${xs}")) text_fill(b->out, t->start, "xs", stride, NULL);
        else text_add(b->out, t->start);
        text_add(b->out, ";\n");
        if (*t->step) {
            text_add(b->out, "        for (int r = 1; r < visible[0]; r++)\n            ");
            text_fill(b->out, t->step, "xs", stride, NULL);
            text_add(b->out, "\n");
        }
        text_printf(b->out, "        y[%lld + i] = v%s;\n    }\n", (long long)(p * b->op->in[0]->width), t->end);
    }
}

/* The factor is rounded as in the library's kernel. */
static void scale_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    const double factor = n->softcap > 0 ? (double)((float)n->scale / (float)n->softcap) : n->scale;
    const char *softcap = emit_real(e->arena, n->softcap);
    const char *value = arena_format(e->arena, "%s * x[(ptrdiff_t)r * %lld + i]",
                                     emit_real(e->arena, factor), (long long)b->w->x_stride);
    if (n->softcap > 0) value = arena_format(e->arena, "%s * rt_plain_tanh(%s)", softcap, value);
    text_fill(b->out, element_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "width", emit_number(e, b->op->out[0]->width),
              "ys", emit_number(e, b->w->y_stride), "value", value, NULL);
}

static const char rotary_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++) {\n"
    "            const float *v = x + (ptrdiff_t)r * ${xs} + h * ${width}, *cosine = (const float *)table + (ptrdiff_t)positions[r] * ${row};\n"
    "            float *o = y + (ptrdiff_t)r * ${ys} + h * ${width};\n"
    "            for (int i = 0; i < ${half}; i++) {\n"
    "                const float a = v[${first}], b = v[${second}], c = cosine[i], s = cosine[${half} + i];\n"
    "                o[${first}] = a * c - b * s;\n"
    "                o[${second}] = b * c + a * s;\n"
    "            }\n"
    "            for (int i = ${dims}; i < ${width}; i++) o[i] = v[i];\n"
    "        }\n";

static void rotary_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    text_fill(b->out, rotary_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "xs", emit_number(e, b->w->x_stride),
              "ys", emit_number(e, b->w->y_stride), "width", emit_number(e, b->op->out[0]->width / n->heads),
              "row", emit_number(e, b->op->weights->shape[1]), "half", emit_number(e, n->dims / 2),
              "dims", emit_number(e, n->dims), "first", n->interleaved ? "2 * i" : "i",
              "second", n->interleaved ? "2 * i + 1" : arena_format(e->arena, "i + %d", n->dims / 2), NULL);
}

/* ---- vocabulary -------------------------------------------------------------------------------------------------- */

static const char log_softmax_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++) {\n"
    "        const float *v = x + (ptrdiff_t)r * ${xs};\n"
    "        float most = v[0], sum = 0, log_sum;\n"
    "        for (int i = 1; i < ${size}; i++) most = v[i] > most ? v[i] : most;\n"
    "        for (int i = 0; i < ${size}; i++) sum += rt_plain_exp(v[i] - most);\n"
    "        log_sum = rt_plain_log(sum);\n"
    "        for (int i = 0; i < ${size}; i++) y[(ptrdiff_t)r * ${ys} + i] = v[i] - most - log_sum;\n"
    "    }\n";
static const char argmax_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++) {\n"
    "        const float *v = x + (ptrdiff_t)r * ${xs};\n"
    "        int best = 0, good = 1;\n"
    "        for (int i = 0; i < ${size}; i++) {\n"
    "            if (v[i] > v[best]) best = i;\n"
    "            good &= v[i] <= 3.402823466e38f;\n"
    "        }\n"
    "        y[r] = good ? best : -1;\n"
    "    }\n";

static void vocabulary_body(const UnrolledBody *b)
{
    Emit *e = b->e;
    const PlanOp *op = b->op;
    const char *xs = emit_number(e, op->in[0]->stride), *size = emit_number(e, op->in[0]->width);
    if (op->kernel == KERNEL_ARGMAX)
        text_fill(b->out, argmax_template, "r0", b->r0, "r1", b->r1, "xs", xs, "size", size, NULL);
    else
        text_fill(b->out, log_softmax_template, "r0", b->r0, "r1", b->r1, "xs", xs, "size", size,
                  "ys", emit_number(e, op->out[0]->stride), NULL);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

typedef void WriteBody(const UnrolledBody *b);
static const struct { const char *parameters; WriteBody *body; } bodies[KERNELS] = {
    [KERNEL_LINEAR] = { "float *y, const float *x, const void *w", linear_body },
    [KERNEL_LINEAR_GATE] = { "float *y, const float *x, const void *w", linear_body },
    [KERNEL_LINEAR_ADD] = { "float *y, const float *x, const void *w, const float *b", linear_body },
    [KERNEL_NORM] = { "float *y, const float *x, const void *w", norm_body },
    [KERNEL_EMBED] = { "float *y, const void *table, const int *ids", embed_body },
    [KERNEL_POSITION] = { "float *y, const float *x, const void *table, const int *positions", embed_body },
    [KERNEL_GATE] = { "float *y, const float *a, const float *b", activation_body },
    [KERNEL_ACTIVATION] = { "float *y, const float *a", activation_body },
    [KERNEL_ROTARY] = { "float *y, const float *x, const void *table, const int *positions", rotary_body },
    [KERNEL_STORE_K] = { "%s *cache, const float *x, const int *positions", unrolled_store },
    [KERNEL_STORE_V] = { "%s *cache, const float *x, const int *positions", unrolled_store },
    [KERNEL_ATTENTION] = { "float *out, const float *q, const %s *k, const %s *v, float *scratch,%s const int *visible", unrolled_attention },
    [KERNEL_RING_K] = { "%s *cache, const float *x, const int *positions", unrolled_store },
    [KERNEL_RING_V] = { "%s *cache, const float *x, const int *positions", unrolled_store },
    [KERNEL_WINDOW] = { "float *out, const float *q, const %s *k, const %s *v, float *scratch,%s const int *visible", unrolled_window },
    [KERNEL_POOL] = { "float *y, const float *x, const int *visible", pool_body },
    [KERNEL_SCALE] = { "float *y, const float *x", scale_body },
    [KERNEL_LOG_SOFTMAX] = { "float *y, const float *x", vocabulary_body },
    [KERNEL_ARGMAX] = { "int *y, const float *x", vocabulary_body },
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) \
    [KERNEL_##id] = { inputs > 1 ? "float *y, const float *a, const float *b" : "float *y, const float *a", element_body },
#include "ops.def"
#undef OP
};

static const char *extra_parameters(Emit *e, const Wrapper *w)
{
    const char *places = w->bias || w->both ? " const int *positions," : "";
    return arena_format(e->arena, "%s%s%s%s%s", w->bias ? " const void *bias," : "", places,
                        w->masked ? " const float *mask," : "", w->added ? " const float *added," : "",
                        w->taps ? " float *scores, float *weights," : "");
}

static void emit_one(Emit *e, Text *out, const Wrapper *w)
{
    bool rows = w->split == SPLIT_ROWS, ranged = !rows && w->split != SPLIT_FIRST_THREAD, panels = emit_takes_panels(e, w);
    const char *parameters = bodies[w->kernel].parameters;
    const Buffer *kv = plan_op_cache(w->op);
    const char *cache = kv ? emit_buffer_type(kv) : "";
    if (kernel_is_attention(w->kernel)) parameters = arena_format(e->arena, parameters, cache, cache, extra_parameters(e, w));
    if (kernel_is_store(w->kernel)) parameters = arena_format(e->arena, parameters, cache);
    const UnrolledBody b = { .e = e, .out = out, .w = w, .op = w->op, .parameters = parameters,
                     .r0 = rows ? "rows.begin" : "0", .r1 = rows ? "rows.end" : "1",
                     .p0 = panels ? "panels.begin" : ranged ? "parts.begin" : "0",
                     .p1 = panels ? "panels.end" : ranged ? "parts.end" : emit_number(e, w->parts) };
    open_function(&b);
    bodies[w->kernel].body(&b);
    close_function(&b);
}

static const char head_template[] =
    "/* ${name}_kernels.h: the operations of ${name}.c in plain C11: no intrinsics, no library, and only\n"
    " * freestanding headers. One function per distinct shape, with its sizes as constants; the inner\n"
    " * loops of linears and attention scores are unrolled by ${unroll}. */\n"
    "#ifndef ${upper}_KERNELS_H\n"
    "#define ${upper}_KERNELS_H\n\n"
    "#include \"rt_plain.h\"\n"
    "#include \"${name}.h\"\n\n";

void emit_unrolled(Emit *e, Text *out)
{
    text_fill(out, head_template, "name", e->name, "upper", e->upper, "unroll", emit_number(e, unrolled_terms(e)), NULL);
    for (int i = 0; i < e->wrapper_count; i++)
        if (e->wrappers[i]->kernel != KERNEL_CUSTOM) emit_one(e, out, e->wrappers[i]);
}
