/* emit_unrolled_attention.c: the KV cache and attention in plain C. Layouts are those of RtCache in
 * rt.h. */
#include "emit_unrolled.h"

/* ---- stores -------------------------------------------------------------------------------------- */

static const char store_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++)\n"
    "            for (int i = 0; i < ${width}; i++)\n"
    "                cache[(ptrdiff_t)h * ${head} + ${place}] = ${number};\n";

static const char store_int8_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++) {\n"
    "            int8_t *to = cache + (ptrdiff_t)h * ${head};\n"
    "            const float scale = ${round};\n"
    "            rt_copy(to + ${scale}, &scale, sizeof scale);\n"
    "        }\n";

/* The number of elements from the keys or values of one head to those of the next. */
static int64_t head_elements(const Buffer *b)
{
    return b->rows * ((b->layout == LAYOUT_KEYS ? b->width : pad16(b->width)) + (int64_t)buffer_scale_bytes(b));
}

/* The number of elements from sixteen keys of a head to the next sixteen. */
static int64_t block_elements(const Buffer *keys) { return 16 * (keys->width + (int64_t)buffer_scale_bytes(keys)); }

void unrolled_store(const UnrolledBody *b)
{
    Emit *e = b->e;
    const Buffer *c = b->op->out[0];
    bool keys = c->layout == LAYOUT_KEYS, ring = b->op->kernel == KERNEL_RING_K || b->op->kernel == KERNEL_RING_V;
    const char *at = ring ? arena_format(e->arena, "(positions[r] %% %lld)", (long long)c->rows) : "positions[r]";
    const char *block = arena_format(e->arena, "(ptrdiff_t)(%s / 16) * %lld", at, (long long)block_elements(c));
    const char *place = keys ? arena_format(e->arena, "%s + 16 * i + %s %% 16", block, at)
                             : arena_format(e->arena, "(ptrdiff_t)(i / 16) * %lld + 16 * %s + i %% 16", (long long)(16 * c->rows), at);
    const char *scale = keys ? arena_format(e->arena, "%s + %lld + 4 * (%s %% 16)", block, (long long)(16 * c->width), at)
                             : arena_format(e->arena, "%lld + 4 * %s", (long long)(c->rows * pad16(c->width)), at);
    const char *from = arena_format(e->arena, "(ptrdiff_t)r * %lld + h * %lld", (long long)b->op->in[1]->stride, (long long)c->width);
    const char *number = arena_format(e->arena, c->kv_dtype == KV_DTYPES_F16 ? "rt_plain_to_f16(x[%s + i])" : "x[%s + i]", from);
    const char *round = keys ? arena_format(e->arena, "rt_plain_int8_key(to + %s + %s %% 16, x + %s, %lld)", block, at, from, (long long)c->width)
                             : arena_format(e->arena, "rt_plain_int8_value(to + 16 * %s, x + %s, %lld, %lld)", at, from, (long long)c->width,
                                            (long long)(16 * c->rows));
    const char *head = emit_number(e, head_elements(c));
    if (c->kv_dtype == KV_DTYPES_INT8)
        text_fill(b->out, store_int8_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "head", head, "round", round,
                  "scale", scale, NULL);
    else
        text_fill(b->out, store_template, "r0", b->r0, "r1", b->r1, "p0", b->p0, "p1", b->p1, "head", head,
                  "width", emit_number(e, c->width), "place", place, "number", number, NULL);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static const char attention_template[] =
    "    for (int r = ${r0}; r < ${r1}; r++)\n"
    "        for (int h = ${p0}; h < ${p1}; h++) {\n"
    "            const ${cache} *key = k + (ptrdiff_t)(h / ${share}) * ${key_head}, *value = v + (ptrdiff_t)(h / ${share}) * ${value_head};\n"
    "            ${query}\n"
    "            const int seen = visible[r];\n"
    "            float most = -3.402823466e38f, sum = 0;\n"
    "            int any = 0;\n"
    "            for (int first = 0; first < seen; first += 16) {\n"
    "                const ${cache} *a = key + (ptrdiff_t)(first / 16) * ${key_block};\n"
    "                ${scales}\n"
    "                float sums[16];\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                ${dot}\n"
    "                for (int j = first; j < first + 16 && j < seen; j++) {\n"
    "                    float s = sums[j - first]${times_scale};\n"
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
    "            ${scale_weights}\n"
    "            for (int i = 0; i < ${d_v}; i += 16) {\n"
    "                const ${cache} *a = value + (ptrdiff_t)(i / 16) * ${value_block};\n"
    "                float sums[16];\n"
    "                int j = 0;\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                ${weighted}\n"
    "                for (int c = 0; c < 16 && i + c < ${d_v}; c++) out[(ptrdiff_t)r * ${ys} + h * ${d_v} + i + c] = sums[c];\n"
    "            }\n"
    "        }\n";

/* Declare the query of row r and head h; for int8 keys, a rotated copy that follows the scores. */
static const char *query_text(Emit *e, const UnrolledBody *b, const Buffer *keys)
{
    const long long width = (long long)keys->width;
    const char *at = arena_format(e->arena, "q + (ptrdiff_t)r * %lld + h * %lld", (long long)b->w->x_stride, width);
    if (keys->kv_dtype != KV_DTYPES_INT8) return arena_format(e->arena, "const float *query = %s;", at);
    return arena_format(e->arena, "float *query = scratch + %lld;\nrt_plain_rotated_query(query, %s, %lld);", (long long)keys->rows + 16, at, width);
}

/* Declare the scales of the sixteen keys at `a`; "" if they have none. */
static const char *scales_text(Emit *e, const Buffer *keys)
{
    if (!buffer_scale_bytes(keys)) return "";
    return arena_format(e->arena, "const int8_t *scales = a + %lld;", (long long)(16 * keys->width));
}

static const char *times_scale(const Buffer *keys)
{
    return buffer_scale_bytes(keys) ? " * rt_plain_scale(scales + 4 * (j - first))" : "";
}

/* Multiply the weights by the scales of the values. ring: the number of positions in a ring buffer,
 * or NULL. */
static const char *scale_weights_text(Emit *e, const Buffer *values, const char *ring)
{
    const long long scales = (long long)(values->rows * pad16(values->width));
    if (!buffer_scale_bytes(values)) return "";
    if (ring)
        return arena_format(e->arena, "for (int j = begin; j < end; j++) scratch[j - base] *= rt_plain_scale(value + %lld + 4 * (j %% %s));",
                            scales, ring);
    return arena_format(e->arena, "for (int j = 0; j < seen; j++) scratch[j] *= rt_plain_scale(value + %lld + 4 * j);", scales);
}

/* sums[c] += value * weight, over the first `seen` positions. */
static const char *weighted_text(Emit *e, int dtype)
{
    const int unroll = unrolled_terms(e);
    Text t = text_new(e->arena);
    if (unroll > 1) {
        text_printf(&t, "for (; j + %d < seen; j += %d, a += %d)\n    for (int c = 0; c < 16; c++) {\n", unroll - 1, unroll, 16 * unroll);
        for (int u = 0; u < unroll; u++) text_printf(&t, "        sums[c] += %s * scratch[j + %d];\n", unrolled_row_number(e, dtype, u), u);
        text_add(&t, "    }\n");
    }
    text_printf(&t, "for (; j < seen; j++, a += 16)\n    for (int c = 0; c < 16; c++) sums[c] += %s * scratch[j];\n", unrolled_number(e, dtype, "c"));
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

void unrolled_attention(const UnrolledBody *b)
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
              "key_head", emit_number(e, head_elements(keys)), "value_head", emit_number(e, head_elements(values)),
              "key_block", emit_number(e, block_elements(keys)), "value_block", emit_number(e, 16 * values->rows),
              "ys", emit_number(e, b->w->y_stride),
              "d_v", emit_number(e, d_v), "dot", unrolled_sum(e, "sums", "query", d_k, keys->kv_dtype),
              "weighted", weighted_text(e, keys->kv_dtype), "cache", emit_buffer_type(keys),
              "scale", emit_real(e->arena, n->scale), "tap_score", score,
              "query", query_text(e, b, keys), "scales", scales_text(e, keys), "times_scale", times_scale(keys),
              "scale_weights", scale_weights_text(e, values, NULL),
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
    "            ${query}\n"
    "            ${span}\n"
    "            float most = -3.402823466e38f, sum = 0;\n"
    "            for (int first = base; first < end; first += 16) {\n"
    "                const ${cache} *a = key + (ptrdiff_t)(first % ${capacity} / 16) * ${key_block};\n"
    "                ${scales}\n"
    "                float sums[16];\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                ${dot}\n"
    "                for (int j = first < begin ? begin : first; j < first + 16 && j < end; j++) {\n"
    "                    float s = sums[j - first]${times_scale};\n"
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
    "            ${scale_weights}\n"
    "            for (int i = 0; i < ${d_v}; i += 16) {\n"
    "                const ${cache} *a = value + (ptrdiff_t)(i / 16) * ${value_block};\n"
    "                float sums[16];\n"
    "                for (int c = 0; c < 16; c++) sums[c] = 0;\n"
    "                for (int j = begin; j < end; j++)\n"
    "                    for (int c = 0; c < 16; c++) sums[c] += ${number} * scratch[j - base];\n"
    "                for (int c = 0; c < 16 && i + c < ${d_v}; c++) out[(ptrdiff_t)r * ${ys} + h * ${d_v} + i + c] = sums[c];\n"
    "            }\n"
    "        }\n";

void unrolled_window(const UnrolledBody *b)
{
    Emit *e = b->e;
    const Node *n = b->op->node;
    const Buffer *keys = b->op->in[1], *values = b->op->in[2], *tap = b->op->out[1] ? b->op->out[1] : b->op->out[2];
    int64_t d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->out[0]->dim[1].bound / n->heads;
    const char *limit = emit_real(e->arena, n->softcap), *cap = "", *score = "", *weight = "";
    const char *number = unrolled_number(e, values->kv_dtype, arena_format(e->arena, "16 * (j %% %lld) + c", (long long)values->rows));
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
              "key_head", emit_number(e, head_elements(keys)), "value_head", emit_number(e, head_elements(values)),
              "key_block", emit_number(e, block_elements(keys)), "value_block", emit_number(e, 16 * values->rows),
              "ys", emit_number(e, b->w->y_stride),
              "d_v", emit_number(e, d_v), "dot", unrolled_sum(e, "sums", "query", d_k, keys->kv_dtype),
              "number", number, "cache", emit_buffer_type(keys),
              "query", query_text(e, b, keys), "scales", scales_text(e, keys), "times_scale", times_scale(keys),
              "scale_weights", scale_weights_text(e, values, emit_number(e, values->rows)), "span", span.data, "capacity", emit_number(e, keys->rows),
              "scale", emit_real(e->arena, n->scale), "tap_score", score, "softcap", cap,
              "tap_weight", weight, NULL);
}
