/* emit_unrolled.c: NAME_kernels.h in plain C11: one function per distinct shape, with its numbers
 * in the text and inner loops unrolled; no intrinsics, no library. For microcontrollers, for other
 * compilers, and for readers.
 *
 * Layouts are those of the library's kernels, so weights and state are the same. A function
 * computes rows r0 .. r1 and parts (panels, heads, groups) p0 .. p1: a thread's share of one and
 * all of the other, or spans of both for linears that threads may divide by panels. */
#include "emit.h"
#include "runtime_text.h"

#include <string.h>

/* The parts of a function's body. r0 .. p1: C expressions for its rows and parts. */
typedef struct Body {
    Emit *e;
    Text *out;
    const Wrapper *w;
    const PlanOp *op;
    const char *parameters, *r0, *r1, *p0, *p1;
} Body;

static void open_function(const Body *b)
{
    const Split split = b->w->split;
    const char *span = emit_takes_panels(b->e, b->w) ? ", rt_span rows, rt_span panels" : split == SPLIT_ROWS ? ", rt_span rows"
                     : split == SPLIT_FIRST_THREAD ? "" : ", rt_span parts";
    text_printf(b->out, "/* %s */\nstatic inline void %s(%s%s)\n{\n", b->w->doc, b->w->name, b->parameters, span);
}

static void close_function(const Body *b) { text_add(b->out, "}\n\n"); }

/* Terms of a sum per iteration of its loop. They are added in order, so no bit depends on it. */
static int unroll_of(const Emit *e)
{
    const int spec = (int)e->model->unroll_factor;
    return e->form.unroll ? e->form.unroll : spec ? spec : 4;
}

/* ---- linear ------------------------------------------------------------------------------------------------------ */

/* The C type of keys and values. */
static const char *cache_words(const PlanOp *op) { return plan_op_is_half(op) ? "rt_f16" : "float"; }

/* An element of `a` as a float; half: `a` is f16. */
static const char *number_at(Emit *e, bool half, const char *index)
{
    return arena_format(e->arena, half ? "rt_plain_of_f16(a[%s])" : "a[%s]", index);
}

/* "48 + c" */
static const char *column_at(Emit *e, int64_t first) { return arena_format(e->arena, "%lld + c", (long long)first); }

/* sum[c] += a[16 * i + c] * of[i], for i of 0 .. terms; half: `a` is f16. */
static const char *sum_text(Emit *e, const char *sum, const char *of, int64_t terms, bool half)
{
    const int unroll = unroll_of(e);
    const int64_t whole = terms / unroll * unroll;
    Text t = text_new(e->arena);
    if (whole) {
        text_printf(&t, "for (int i = 0; i < %lld; i += %d, a += %d)\n    for (int c = 0; c < 16; c++) {\n", (long long)whole, unroll, 16 * unroll);
        for (int u = 0; u < unroll; u++) text_printf(&t, "        %s[c] += %s * %s[i + %d];\n", sum, number_at(e, half, column_at(e, 16 * u)), of, u);
        text_add(&t, "    }\n");
    }
    for (int64_t i = whole; i < terms; i++)
        text_printf(&t, "for (int c = 0; c < 16; c++) %s[c] += %s * %s[%lld];\n", sum, number_at(e, half, column_at(e, 16 * (i - whole))), of,
                    (long long)i);
    return t.data;
}

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

/* The sixteen outputs that the activated ones are multiplied with. Their panels follow all panels
 * of the activated linear. */
static const char gate_template[] =
    "            float t[16];\n"
    "            a = (const float *)w + (ptrdiff_t)(p + ${panels}) * ${panel};\n"
    "            for (int c = 0; c < 16; c++) t[c] = ${start};\n"
    "${bias}\n"
    "            ${sum}\n";

static void linear_body(const Body *b)
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
                  "sum", sum_text(e, "t", "v", in, false), NULL);
        act = arena_format(e->arena, "%s * t[c]", act);
    }
    if (b->op->kernel == KERNEL_LINEAR_ADD) act = arena_format(e->arena, "b[(ptrdiff_t)r * %lld + 16 * p + c] + %s", (long long)b->w->y_stride, act);
    const char *last = out % 16 ? arena_format(e->arena, "(p == %lld ? %lld : 16)", (long long)(out / 16), (long long)(out % 16)) : "16";
    text_fill(b->out, linear_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "panel", panel,
              "xs", emit_number(e, b->w->x_stride), "ys", emit_number(e, b->w->y_stride), "start", start, "bias", skip,
              "sum", sum_text(e, "s", "v", in, false), "gate", gate.data, "last", last, "result", act, NULL);
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

static void norm_body(const Body *b)
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

static void embed_body(const Body *b)
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

static void write_elements(const Body *b, const char *value)
{
    text_fill(b->out, element_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "width", emit_number(b->e, b->op->out[0]->width),
              "ys", emit_number(b->e, b->w->y_stride), "value", value, NULL);
}

static const char *element_of(Emit *e, const char *rows, int64_t stride)
{
    return arena_format(e->arena, "%s[(ptrdiff_t)r * %lld + i]", rows, (long long)stride);
}

static void element_body(const Body *b)
{
    const char *x = element_of(b->e, "a", b->w->x_stride), *z = element_of(b->e, "b", b->w->z_stride);
    write_elements(b, emit_element(b->e, kernel_element(b->op->kernel), x, z, true));
}

static void activation_body(const Body *b)
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

static void pool_body(const Body *b)
{
    Emit *e = b->e;
    const FieldList *parts = b->op->node->parts;
    const char *stride = emit_number(e, b->op->in[0]->stride), *width = emit_number(e, b->op->in[0]->width);
    bool counts = false;
    for (int p = 0; p < parts->count; p++) counts |= parts->value[p] != POOLINGS_CLS;
    if (!counts) text_add(b->out, "    (void)visible;      /* the first row is there whatever their number */\n");
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
static void scale_body(const Body *b)
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

static void rotary_body(const Body *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    text_fill(b->out, rotary_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "xs", emit_number(e, b->w->x_stride),
              "ys", emit_number(e, b->w->y_stride), "width", emit_number(e, b->op->out[0]->width / n->heads),
              "row", emit_number(e, b->op->weights->shape[1]), "half", emit_number(e, n->dims / 2),
              "dims", emit_number(e, n->dims), "first", n->interleaved ? "2 * i" : "i",
              "second", n->interleaved ? "2 * i + 1" : arena_format(e->arena, "i + %d", n->dims / 2), NULL);
}

static const char store_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++)\n"
    "            for (int i = 0; i < ${width}; i++)\n"
    "                cache[(ptrdiff_t)h * ${head} + ${place}] = ${number};\n";

static void store_body(const Body *b)
{
    Emit *e = b->e;
    const Buffer *c = b->op->out[0];
    bool keys = c->layout == LAYOUT_KEYS, ring = b->op->kernel == KERNEL_RING_K || b->op->kernel == KERNEL_RING_V;
    const char *at = ring ? arena_format(e->arena, "(positions[r] %% %lld)", (long long)c->rows) : "positions[r]";
    const char *place = keys ? arena_format(e->arena, "(ptrdiff_t)(%s / 16) * %lld + 16 * i + %s %% 16", at, (long long)(16 * c->width), at)
                             : arena_format(e->arena, "(ptrdiff_t)(i / 16) * %lld + 16 * %s + i %% 16", (long long)(16 * c->rows), at);
    const char *number = arena_format(e->arena, "x[(ptrdiff_t)r * %lld + h * %lld + i]", (long long)b->op->in[1]->stride, (long long)c->width);
    if (c->half) number = arena_format(e->arena, "rt_plain_to_f16(%s)", number);
    text_fill(b->out, store_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "width", emit_number(e, c->width), "place", place,
              "head", emit_number(e, c->rows * (keys ? c->width : pad16(c->width))), "number", number, NULL);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static const char attention_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++) {\n"
    "            const ${cache} *key = k + (ptrdiff_t)(h / ${share}) * ${key_head}, *value = v + (ptrdiff_t)(h / ${share}) * ${value_head};\n"
    "            const float *query = q + (ptrdiff_t)r * ${xs} + h * ${d_k};\n"
    "            const int seen = visible[r];\n"
    "            float most = -3.402823466e38f, sum = 0;\n"
    "            int any = 0;\n"
    "            for (int first = 0; first < seen; first += 16) {\n"
    "                const ${cache} *a = key + (ptrdiff_t)(first / 16) * ${key_block};\n"
    "                float sums[16];\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                ${dot}\n"
    "                for (int j = first; j < first + 16 && j < seen; j++) {\n"
    "                    float s = sums[j - first];\n"
    "                    ${tap_score}\n"
    "                    s *= ${scale};\n"
    "                    ${softcap}\n"
    "                    ${bias}\n"
    "                    ${mask}\n"
    "                    scratch[j] = s;\n"
    "                    if (s > most) most = s;\n"
    "                    any = 1;\n"
    "                }\n"
    "            }\n"
    "            for (int j = 0; j < seen; j++) {\n"
    "                scratch[j] = any${unless} ? rt_plain_exp(scratch[j] - most) : 0;\n"
    "                sum += scratch[j];\n"
    "            }\n"
    "            for (int j = 0; j < seen && any; j++) scratch[j] /= sum;\n"
    "${tap_weight}\n"
    "            for (int i = 0; i < ${d_v}; i += 16) {\n"
    "                const ${cache} *a = value + (ptrdiff_t)(i / 16) * ${value_block};\n"
    "                float sums[16];\n"
    "                int j = 0;\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                ${weighted}\n"
    "                for (int c = 0; c < 16 && i + c < ${d_v}; c++) out[(ptrdiff_t)r * ${ys} + h * ${d_v} + i + c] = sums[c];\n"
    "            }\n"
    "        }\n";

/* sums[c] += value * weight, over the first `seen` positions. */
static const char *weighted_text(Emit *e, bool half)
{
    const int unroll = unroll_of(e);
    Text t = text_new(e->arena);
    if (unroll > 1) {
        text_printf(&t, "for (; j + %d < seen; j += %d, a += %d)\n    for (int c = 0; c < 16; c++) {\n", unroll - 1, unroll, 16 * unroll);
        for (int u = 0; u < unroll; u++) text_printf(&t, "        sums[c] += %s * scratch[j + %d];\n", number_at(e, half, column_at(e, 16 * u)), u);
        text_add(&t, "    }\n");
    }
    text_printf(&t, "for (; j < seen; j++, a += 16)\n    for (int c = 0; c < 16; c++) sums[c] += %s * scratch[j];\n", number_at(e, half, "c"));
    return t.data;
}

/* The number that is added to the score of row r and key j in head h. */
static const char *added_text(Emit *e, const Wrapper *w)
{
    const long long stride = w->added_stride, head = w->added_head;
    if (!head) return arena_format(e->arena, "added[(ptrdiff_t)r * %lld + j]", stride);
    return arena_format(e->arena, "added[(ptrdiff_t)h * %lld + (ptrdiff_t)r * %lld + j]", head, stride);
}

/* The condition for row r to see key j, by the mask and the added number; "" if there is
 * neither. */
static const char *shown_text(Emit *e, const Wrapper *w)
{
    const long long stride = w->mask_stride;
    const char *mask = w->masked ? arena_format(e->arena, "mask[(ptrdiff_t)r * %lld + j] != 0", stride) : "";
    if (!w->added) return mask;
    return arena_format(e->arena, "%s%s%s >= -3.402823466e38f", mask, *mask ? " && " : "",
                        added_text(e, w));
}

static void attention_body(const Body *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    const Buffer *keys = b->op->in[1], *values = b->op->in[2], *tap = b->op->out[1] ? b->op->out[1] : b->op->out[2];
    int64_t d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->out[0]->dim[1].bound / n->heads;
    const char *at = tap ? arena_format(e->arena, "((ptrdiff_t)h * %lld + r) * %lld + j", (long long)tap->rows, (long long)tap->stride) : "";
    const char *score = "", *weight = "", *shown = shown_text(e, b->w);
    if (tap) {
        const char *live = *shown ? arena_format(e->arena, "%s ? s : 0", shown) : "s";
        score = arena_format(e->arena, "if (scores) scores[%s] = %s;", at, live);
        weight = arena_format(e->arena, "            for (int j = 0; j < %lld; j++) {\n"
                              "                if (weights) weights[%s] = j < seen ? scratch[j] : 0;\n"
                              "                if (scores && j >= seen) scores[%s] = 0;\n            }\n", (long long)tap->stride, at, at);
    }
    long long reach = b->w->reach;
    const char *limit = emit_real(e->arena, n->softcap);
    const char *cap = "", *bias = "", *mask = "", *unless = "";
    if (n->softcap > 0) cap = arena_format(e->arena, "s = %s * rt_plain_tanh(s / %s);", limit, limit);
    if (b->w->bias)
        bias = arena_format(e->arena, "s += ((const float *)bias)[(ptrdiff_t)h * %lld + %lld + j - positions[r]];",
                            2 * reach - 1, reach - 1);
    if (b->w->added)
        bias = arena_format(e->arena, "%s%ss += %s;", bias, *bias ? "\n" : "", added_text(e, b->w));
    if (*shown) {
        mask = arena_format(e->arena, "if (!(%s)) continue;", shown);
        unless = arena_format(e->arena, " && %s", shown);
    }
    text_fill(b->out, attention_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "share", emit_number(e, n->heads / n->kv_heads),
              "key_head", emit_number(e, keys->rows * d_k), "value_head", emit_number(e, values->rows * pad16(d_v)),
              "key_block", emit_number(e, 16 * d_k), "value_block", emit_number(e, 16 * values->rows),
              "xs", emit_number(e, b->w->x_stride), "ys", emit_number(e, b->w->y_stride),
              "d_k", emit_number(e, d_k), "d_v", emit_number(e, d_v), "dot", sum_text(e, "sums", "query", d_k, keys->half),
              "weighted", weighted_text(e, keys->half), "cache", cache_words(b->op),
              "scale", emit_real(e->arena, n->scale), "tap_score", score,
              "softcap", cap, "bias", bias, "mask", mask, "unless", unless, "tap_weight", weight, NULL);
}

static const char last_span[] =
    "const int end = visible[r], begin = end > ${window} ? end - ${window} : 0, base = begin / 16 * 16;";
static const char both_span[] =
    "const int own = positions[r] + 1, last = own + ${window} - 1, end = last < visible[r] ? last : visible[r];\n"
    "const int begin = own > ${window} ? own - ${window} : 0, base = begin / 16 * 16;";

/* scratch[j] belongs to position base + j. */
static const char window_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++) {\n"
    "            const ${cache} *key = k + (ptrdiff_t)(h / ${share}) * ${key_head}, *value = v + (ptrdiff_t)(h / ${share}) * ${value_head};\n"
    "            const float *query = q + (ptrdiff_t)r * ${xs} + h * ${d_k};\n"
    "            ${span}\n"
    "            float most = -3.402823466e38f, sum = 0;\n"
    "            for (int first = base; first < end; first += 16) {\n"
    "                const ${cache} *a = key + (ptrdiff_t)(first % ${capacity} / 16) * ${key_block};\n"
    "                float sums[16];\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                ${dot}\n"
    "                for (int j = first < begin ? begin : first; j < first + 16 && j < end; j++) {\n"
    "                    float s = sums[j - first];\n"
    "                    ${tap_score}\n"
    "                    s *= ${scale};\n"
    "                    ${softcap}\n"
    "                    scratch[j - base] = s;\n"
    "                    if (s > most) most = s;\n"
    "                }\n"
    "            }\n"
    "            for (int j = begin; j < end; j++) {\n"
    "                scratch[j - base] = rt_plain_exp(scratch[j - base] - most);\n"
    "                sum += scratch[j - base];\n"
    "            }\n"
    "            for (int j = begin; j < end; j++) scratch[j - base] /= sum;\n"
    "${tap_weight}\n"
    "            for (int i = 0; i < ${d_v}; i += 16) {\n"
    "                const ${cache} *a = value + (ptrdiff_t)(i / 16) * ${value_block};\n"
    "                float sums[16];\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                for (int j = begin; j < end; j++)\n"
    "                    for (int c = 0; c < 16; c++) sums[c] += ${number} * scratch[j - base];\n"
    "                for (int c = 0; c < 16 && i + c < ${d_v}; c++) out[(ptrdiff_t)r * ${ys} + h * ${d_v} + i + c] = sums[c];\n"
    "            }\n"
    "        }\n";

static void window_body(const Body *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    const Buffer *keys = b->op->in[1], *values = b->op->in[2], *tap = b->op->out[1] ? b->op->out[1] : b->op->out[2];
    int64_t d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->out[0]->dim[1].bound / n->heads;
    const char *limit = emit_real(e->arena, n->softcap), *cap = "", *score = "", *weight = "";
    Text span = text_new(e->arena);
    text_fill(&span, b->w->both ? both_span : last_span, "window", emit_number(e, n->window), NULL);
    if (n->softcap > 0) cap = arena_format(e->arena, "s = %s * rt_plain_tanh(s / %s);", limit, limit);
    if (tap) {
        const char *at = arena_format(e->arena, "((ptrdiff_t)h * %lld + r) * %lld + j", (long long)tap->rows, (long long)tap->stride);
        score = arena_format(e->arena, "if (scores) scores[%s] = s;", at);
        weight = arena_format(e->arena, "            for (int j = 0; j < %lld; j++) {\n"
                              "                if (weights) weights[%s] = j >= begin && j < end ? scratch[j - base] : 0;\n"
                              "                if (scores && (j < begin || j >= end)) scores[%s] = 0;\n            }\n",
                              (long long)tap->stride, at, at);
    }
    text_fill(b->out, window_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "share", emit_number(e, n->heads / n->kv_heads),
              "key_head", emit_number(e, keys->rows * d_k), "value_head", emit_number(e, values->rows * pad16(d_v)),
              "key_block", emit_number(e, 16 * d_k), "value_block", emit_number(e, 16 * values->rows),
              "xs", emit_number(e, b->w->x_stride), "ys", emit_number(e, b->w->y_stride),
              "d_k", emit_number(e, d_k), "d_v", emit_number(e, d_v), "dot", sum_text(e, "sums", "query", d_k, keys->half), "number",
              number_at(e, keys->half, arena_format(e->arena, "16 * (j %% %lld) + c", (long long)keys->rows)), "cache", cache_words(b->op),
              "span", span.data, "capacity", emit_number(e, keys->rows),
              "scale", emit_real(e->arena, n->scale), "tap_score", score, "softcap", cap,
              "tap_weight", weight, NULL);
}

/* ---- vocabulary -------------------------------------------------------------------------------------------------- */

static const char log_softmax_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++) {\n"
    "        const float *v = x + (ptrdiff_t)r * ${stride};\n"
    "        float most = v[0], sum = 0, log_sum;\n"
    "        for (int i = 1; i < ${size}; i++) most = v[i] > most ? v[i] : most;\n"
    "        for (int i = 0; i < ${size}; i++) sum += rt_plain_exp(v[i] - most);\n"
    "        log_sum = rt_plain_log(sum);\n"
    "        for (int i = 0; i < ${size}; i++) y[(ptrdiff_t)r * ${stride} + i] = v[i] - most - log_sum;\n"
    "    }\n";
static const char argmax_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++) {\n"
    "        const float *v = x + (ptrdiff_t)r * ${stride};\n"
    "        int best = 0, good = 1;\n"
    "        for (int i = 0; i < ${size}; i++) {\n"
    "            if (v[i] > v[best]) best = i;\n"
    "            good &= v[i] <= 3.402823466e38f;\n"
    "        }\n"
    "        y[r] = good ? best : -1;\n"
    "    }\n";

static void vocabulary_body(const Body *b)
{
    const char *template = b->op->kernel == KERNEL_ARGMAX ? argmax_template : log_softmax_template;
    text_fill(b->out, template, "r0", b->r0, "r1", b->r1, "stride", emit_number(b->e, b->op->in[0]->stride),
              "size", emit_number(b->e, b->op->in[0]->width), NULL);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

typedef void WriteBody(const Body *b);
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
    [KERNEL_STORE_K] = { "%s *cache, const float *x, const int *positions", store_body },
    [KERNEL_STORE_V] = { "%s *cache, const float *x, const int *positions", store_body },
    [KERNEL_ATTENTION] = { "float *out, const float *q, const %s *k, const %s *v, float *scratch,%s const int *visible", attention_body },
    [KERNEL_RING_K] = { "%s *cache, const float *x, const int *positions", store_body },
    [KERNEL_RING_V] = { "%s *cache, const float *x, const int *positions", store_body },
    [KERNEL_WINDOW] = { "float *out, const float *q, const %s *k, const %s *v, float *scratch,%s const int *visible", window_body },
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
    const char *cache = cache_words(w->op);
    if (kernel_is_attention(w->kernel)) parameters = arena_format(e->arena, parameters, cache, cache, extra_parameters(e, w));
    if (kernel_is_store(w->kernel)) parameters = arena_format(e->arena, parameters, cache);
    const Body b = { .e = e, .out = out, .w = w, .op = w->op, .parameters = parameters,
                     .r0 = rows ? "rows.begin" : "0", .r1 = rows ? "rows.end" : "1",
                     .p0 = panels ? "panels.begin" : ranged ? "parts.begin" : "0",
                     .p1 = panels ? "panels.end" : ranged ? "parts.end" : emit_number(e, w->parts) };
    open_function(&b);
    bodies[w->kernel].body(&b);
    close_function(&b);
}

static const char head_template[] =
    "/* ${name}_kernels.h: what ${name}.c computes with, in plain C11: no intrinsics, no library,\n"
    " * freestanding headers only. One function per distinct shape, its numbers in the text; inner\n"
    " * loops are unrolled by ${unroll}. */\n"
    "#ifndef ${upper}_KERNELS_H\n"
    "#define ${upper}_KERNELS_H\n\n"
    "#include \"rt_plain.h\"\n"
    "#include \"${name}.h\"\n\n";

void emit_unrolled(Emit *e, Text *out)
{
    text_fill(out, head_template, "name", e->name, "upper", e->upper, "unroll", emit_number(e, unroll_of(e)), NULL);
    for (int i = 0; i < e->wrapper_count; i++)
        if (e->wrappers[i]->kernel != KERNEL_CUSTOM) emit_one(e, out, e->wrappers[i]);
}
