/* generic_ops.c: the reference kernels: they compute each operation as it is defined, on row-major
 * buffers.
 *
 * Emitted code is compared with them, so sums outside of matrix products are in double, and
 * exponentials are libm's.
 *
 * In: a pass (engine, layer, lengths) and an operation. Out: the operation's buffers, and the flag
 * for a saturated f16 cache. */
#include "generic_parts.h"
#include "quantise.h"
#include "rt_plain.h"

#include <math.h>
#include <string.h>

/* ---- rows ----------------------------------------------------------------------------------------------- */

static void embed(const GenericPass *pass, const PlanOp *op)
{
    const int32_t *ids = generic_integers(pass, op->in[1]);
    const int width = (int)op->out[0]->width;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *from = generic_row_of_table(pass, op->node->in[0], ids[r]);
        float *y = generic_row(pass, op->out[0], r);
        for (int i = 0; i < width; i++) y[i] = (float)(op->node->scale * from[i]);
    }
}

static void position(const GenericPass *pass, const PlanOp *op)
{
    const int32_t *positions = generic_integers(pass, op->in[2]);
    const int width = (int)op->out[0]->width;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        const float *from = generic_row_of_table(pass, op->node->in[1], positions[r]);
        float *y = generic_row(pass, op->out[0], r);
        for (int i = 0; i < width; i++) y[i] = x[i] + from[i];
    }
}

static void norm(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const float *gain = generic_weights(pass, n->in[1]), *bias = generic_weights(pass, n->in[2]);
    const int heads = n->heads > 1 ? n->heads : 1, width = (int)op->out[0]->width / heads;
    for (int i = 0; i < generic_rows_of(pass, op->result) * heads; i++) {
        const float *x = generic_row(pass, op->in[0], i / heads) + i % heads * width;
        float *y = generic_row(pass, op->out[0], i / heads) + i % heads * width;
        double mean = 0, squares = 0;
        for (int j = 0; j < width && n->kind != NORMS_RMS; j++) mean += (double)x[j] / width;
        for (int j = 0; j < width; j++) squares += (x[j] - mean) * (x[j] - mean);
        const double factor = generic_norm_factor(n, squares, width);
        for (int j = 0; j < width; j++) y[j] = (float)(gain[j] * ((x[j] - mean) * factor) + (bias ? bias[j] : 0));
    }
}

/* Copy the rows that a linear reads, rounded, to own->rounded, [p->m][p->k]; sets p->a_stride. */
static const float *rounded_rows(const GenericPass *pass, const PlanOp *op, BlasProduct *p)
{
    float *rounded = ((const Generic *)pass->engine->own)->rounded;
    for (int r = 0; r < p->m; r++)
        quantise_activations(rounded + (int64_t)r * p->k, generic_row(pass, op->in[0], r), p->k);
    p->a_stride = p->k;
    return rounded;
}

static void linear(const GenericPass *pass, const PlanOp *op)
{
    const Tensor *w = op->node->in[1], *b = op->node->in[2];
    const float *bias = generic_weights(pass, b);
    const int n = (int)w->dim[0].bound, k = (int)w->dim[1].bound;
    const int rows = generic_rows_of(pass, op->result);
    for (int r = 0; bias && r < rows; r++)
        memcpy(generic_row(pass, op->out[0], r), bias, (size_t)n * sizeof *bias);
    BlasProduct product = { .m = rows, .n = n, .k = k, .transposed = true, .add = bias != NULL,
                            .a_stride = (int)op->in[0]->stride, .b_stride = k,
                            .c_stride = (int)op->out[0]->stride, .threads = generic_threads(pass) };
    const bool rounds = format_is_quantised(pass->engine->plan->formats[w->id]);
    const float *a = rounds ? rounded_rows(pass, op, &product) : generic_row(pass, op->in[0], 0);
    float *c = generic_row(pass, op->out[0], 0);
    if (!generic_product_by_rows(pass->engine, w, w->layers ? pass->layer : 0, &product, c, a))
        generic_product_of(pass)(&product, c, a, generic_weights(pass, w));
}

/* Elementwise operations; if there is only one input, b is the same as a. */
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature)                                          \
    static void element_##id(const GenericPass *pass, const PlanOp *op)                         \
    {                                                                                           \
        for (int r = 0; r < generic_rows_of(pass, op->result); r++) {                           \
            const float *first = generic_row(pass, op->in[0], r);                               \
            const float *second = generic_row(pass, op->in[(inputs) - 1], r);                   \
            float *y = generic_row(pass, op->out[0], r);                                        \
            for (int i = 0; i < op->out[0]->width; i++) {                                       \
                const double a = first[i], b = second[i];                                       \
                (void)b;                                                                        \
                y[i] = (float)(value);                                                          \
            }                                                                                   \
        }                                                                                       \
    }
#include "ops.def"
#undef OP

#define RT_ACTIVATION(id, name, formula, vector, plain, exact) static double exact_##id(double x) { return exact; }
#include "activations.def"
#undef RT_ACTIVATION

static double (*const activations[RT_ACTIVATIONS])(double) = {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) [RT_##id] = exact_##id,
#include "activations.def"
#undef RT_ACTIVATION
};

static void activation(const GenericPass *pass, const PlanOp *op)
{
    double (*const f)(double) = activations[op->activation];
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        float *y = generic_row(pass, op->out[0], r);
        for (int i = 0; i < op->out[0]->width; i++) y[i] = (float)f(x[i]);
    }
}

static void gate(const GenericPass *pass, const PlanOp *op)
{
    double (*const f)(double) = activations[op->activation];
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *a = generic_row(pass, op->in[0], r), *b = generic_row(pass, op->in[1], r);
        float *y = generic_row(pass, op->out[0], r);
        for (int i = 0; i < op->out[0]->width; i++) y[i] = (float)(f(a[i]) * b[i]);
    }
}

static void pool(const GenericPass *pass, const PlanOp *op)
{
    const FieldList *parts = op->node->parts;
    const int64_t width = op->in[0]->width;
    const int rows = generic_integers(pass, op->in[1])[0];
    for (int p = 0; p < parts->count; p++)
        for (int64_t i = 0; i < width; i++) {
            const float *x = generic_row(pass, op->in[0], 0) + i;
            float *y = generic_row(pass, op->out[0], 0) + p * width + i;
            *y = (float)generic_pooled_of(x, op->in[0]->stride, parts->value[p], rows);
        }
}

static void scale(const GenericPass *pass, const PlanOp *op)
{
    const double factor = op->node->scale, cap = op->node->softcap;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        float *y = generic_row(pass, op->out[0], r);
        for (int i = 0; i < op->out[0]->width; i++) y[i] = (float)(cap > 0 ? cap * tanh(factor * x[i] / cap) : factor * x[i]);
    }
}

/* Rotate the pairs of one head; angle: cosines, then sines. y may be x. */
static void turn(const Node *n, float *y, const float *x, const float *angle)
{
    const int half = n->dims / 2;
    for (int i = 0; i < half; i++) {
        const int first = n->interleaved ? 2 * i : i, second = n->interleaved ? 2 * i + 1 : i + half;
        const double a = x[first], b = x[second], c = angle[i], s = angle[half + i];
        y[first] = (float)(a * c - b * s);
        y[second] = (float)(b * c + a * s);
    }
}

static void rotary(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const float *table = generic_weights(pass, op->weights->tensor[0]);
    const int32_t *positions = generic_integers(pass, op->in[2]);
    const int width = (int)op->out[0]->width / n->heads;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++)
        for (int h = 0; h < n->heads; h++) {
            const float *x = generic_row(pass, op->in[0], r) + h * width;
            float *y = generic_row(pass, op->out[0], r) + h * width;
            turn(n, y, x, table + (int64_t)positions[r] * n->dims);
            for (int i = n->dims; i < width; i++) y[i] = x[i];
        }
}

/* Multiply a key by a factor and rotate it as an int8 cache does. Done twice, once with the factor
 * 1 / block, it restores the key except for rounding. */
static void rotate(float *key, int64_t width, float factor)
{
    for (int64_t i = 0; i < width; i++) key[i] *= factor;
    rt_plain_rotate_key(key, (int)width);
}

/* Copy x to `to` as f32, rounded as in a cache. */
static void round_as_cache(const Model *m, const Node *n, float *to, const float *x, int64_t width)
{
    const int64_t head = width / n->kv_heads;
    switch (m->kv_dtype) {
    case KV_DTYPES_F16: round_to_f16(to, x, width); break;
    case KV_DTYPES_INT8:
        memcpy(to, x, (size_t)width * sizeof *to);
        for (int64_t h = 0; h < width; h += head) {
            if (!n->values) rotate(to + h, head, 1);
            round_to_int8(to + h, to + h, head);
            if (!n->values) rotate(to + h, head, 1.0f / (float)rt_rotated_block((int)head));
        }
        break;
    default: memcpy(to, x, (size_t)width * sizeof *to);
    }
}

/* Keys and values have the same layout here: a row is stored at its position. */
static void store(const GenericPass *pass, const PlanOp *op)
{
    const int32_t *positions = generic_integers(pass, op->in[2]);
    const Engine *e = pass->engine;
    int32_t *saturated = e->plan->saturated_offset ? (int32_t *)(void *)(e->state + e->plan->saturated_offset) : NULL;
    for (int r = 0; r < generic_rows_of(pass, op->node->in[1]); r++) {
        float *to = generic_row(pass, op->out[0], positions[r]);
        const float *x = generic_row(pass, op->in[1], r);
        for (int64_t i = 0; saturated && i < op->in[1]->width; i++) *saturated |= fabsf(x[i]) >= F16_BEYOND;
        round_as_cache(e->plan->graph->model, op->node, to, x, op->in[1]->width);
    }
}

/* ---- attention ------------------------------------------------------------------------------------------ */

/* w[n] = softmax of scale * x; zeros if every x is -inf, NaN if one is NaN. w may be x. */
static void softmax(float *w, const float *x, int n, double scale)
{
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) most = fmax(most, scale * x[j]);
    for (int j = 0; j < n; j++) {
        const double s = scale * x[j];
        sum += w[j] = s > -INFINITY || s != s ? expf((float)(s - most)) : 0;
    }
    for (int j = 0; j < n && sum != 0; j++) w[j] = (float)(w[j] / sum);
}

static bool hides(GenericAdjustment a, int j)
{
    return (a.mask && a.mask[j] == 0) || (a.added && a.added[j] <= -INFINITY);
}

/* The attention weights of one row of a head: w[keys] from the scores s of the keys in `seen`. For
 * hidden keys and outside of `seen`, both become 0. */
static void weigh(float *w, float *s, GenericAdjustment a, rt_span seen, int keys, double scale)
{
    for (int j = 0; j < seen.begin; j++) w[j] = s[j] = 0;
    for (int j = seen.end; j < keys; j++) w[j] = s[j] = 0;
    if (!a.bias && !a.mask && !a.added && a.softcap <= 0) {
        softmax(w + seen.begin, s + seen.begin, seen.end - seen.begin, scale);
        return;
    }
    for (int j = seen.begin; j < seen.end; j++) {
        double x = scale * s[j];
        if (a.softcap > 0) x = a.softcap * tanh(x / a.softcap);
        if (a.bias) x += a.bias[j];
        if (a.added) x += a.added[j];
        w[j] = (float)x;
        if (hides(a, j)) w[j] = -INFINITY, s[j] = 0;
    }
    softmax(w + seen.begin, w + seen.begin, seen.end - seen.begin, 1);
}

static bool all_zero(const float *x, int n)
{
    for (int i = 0; i < n; i++)
        if (x[i] != 0) return false;
    return true;
}

/* softmax(scale q k^T) v, with the adjustments of generic_parts.h; each row uses its first
 * visible[row] keys, except those that the window, the mask or an added -inf hides. */
static void attention(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const Buffer *weight = op->out[1], *score = op->out[2];
    const int32_t *visible = generic_integers(pass, op->in[3]);
    const int d_k = (int)n->in[0]->dim[1].bound / n->heads, d_v = (int)n->out[0]->dim[1].bound / n->heads;
    const int rows = generic_rows_of(pass, op->result);
    int most = 0;
    for (int r = 0; r < rows; r++) most = visible[r] > most ? visible[r] : most;
    const BlasProduct scores = { .m = rows, .n = most, .k = d_k, .a_stride = (int)op->in[0]->stride,
                                 .b_stride = (int)op->in[1]->stride, .c_stride = (int)score->stride, .transposed = true,
                                 .threads = generic_threads(pass) };
    const BlasProduct values = { .m = rows, .n = d_v, .k = most, .a_stride = (int)weight->stride,
                                 .b_stride = (int)op->in[2]->stride,
                                 .c_stride = (int)op->out[0]->stride,
                                 .threads = generic_threads(pass) };
    for (int h = 0; h < n->heads; h++) {
        const GenericHead at = generic_head_of(pass, op, h, d_k, d_v);
        if (most) generic_product_of(pass)(&scores, at.scores, at.q, at.k);
        for (int r = 0; r < rows; r++)
            weigh(at.weights + r * weight->stride, at.scores + r * score->stride,
                  generic_adjustment_of(pass, op, h, r), generic_keys_of(pass, op, r, visible[r]),
                  (int)weight->width, n->scale);
        if (most) generic_product_of(pass)(&values, at.out, at.weights, at.v);
        for (int r = 0; r < rows; r++)      /* 0, even if a masked value is NaN */
            if (all_zero(at.weights + r * weight->stride, visible[r])) memset(at.out + r * op->out[0]->stride, 0, (size_t)d_v * sizeof(float));
    }
}

/* ---- vocabulary ----------------------------------------------------------------------------------------- */

static void log_softmax(const GenericPass *pass, const PlanOp *op)
{
    const int64_t width = op->in[0]->width;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        float *y = generic_row(pass, op->out[0], r);
        const double log_sum = generic_log_of_sum(x, width);
        for (int64_t i = 0; i < width; i++) y[i] = (float)(x[i] - log_sum);
    }
}

static void argmax(const GenericPass *pass, const PlanOp *op)
{
    int32_t *y = generic_address(pass, op->out[0]);
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        int best = 0;
        bool good = true;
        for (int i = 0; i < op->in[0]->width; i++) {
            if (x[i] > x[best]) best = i;
            good = good && x[i] < INFINITY;
        }
        y[r] = good ? best : -1;
    }
}

/* ---- C of the spec -------------------------------------------------------------------------------------- */

static void custom(const GenericPass *pass, const PlanOp *op)
{
    const float *in[NODE_INPUTS];
    const Generic *g = pass->engine->own;
    for (int i = 0; i < op->node->custom->input_count; i++)
        in[i] = op->params[i] ? generic_weights(pass, op->node->in[i])
                              : generic_row(pass, op->in[i], 0);
    float *out = generic_row(pass, op->out[0], 0);
    custom_of(g->custom, op)(out, in, 0, generic_rows_of(pass, op->result));
}

/* ---- dispatch ------------------------------------------------------------------------------------------- */

GenericCompute *const generic_computes[KERNELS] = {
    [KERNEL_LINEAR] = linear,         [KERNEL_NORM] = norm,             [KERNEL_EMBED] = embed,
    [KERNEL_POSITION] = position,     [KERNEL_ACTIVATION] = activation,
    [KERNEL_STORE_K] = store,         [KERNEL_STORE_V] = store,         [KERNEL_ATTENTION] = attention,
    [KERNEL_LOG_SOFTMAX] = log_softmax, [KERNEL_ARGMAX] = argmax,       [KERNEL_GATE] = gate,
    [KERNEL_ROTARY] = rotary,         [KERNEL_SCALE] = scale,           [KERNEL_RING_K] = store,
    [KERNEL_RING_V] = store,          [KERNEL_WINDOW] = attention,      [KERNEL_CUSTOM] = custom,
    [KERNEL_POOL] = pool,
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) [KERNEL_##id] = element_##id,
#include "ops.def"
#undef OP
};

static bool of_slots(const PlanOp *op)
{
    for (int i = 0; i < NODE_INPUTS; i++)
        if (op->in[i] && op->in[i]->place == PLACE_SLOT) return true;
    return op->out[0] && op->out[0]->place == PLACE_SLOT;
}

void generic_run(const GenericPass *pass, const PlanOp *op, GenericCompute *compute)
{
    if (!pass->group_count || !of_slots(op)) {
        compute(pass, op);
        return;
    }
    for (int i = 0; i < pass->group_count; i++) {
        const rt_group *g = &pass->groups[i];
        GenericPass part = *pass;
        part.slot = g->slot;
        part.first_row = g->rows.begin;
        part.used[COUNT_ROWS] = g->rows.end - g->rows.begin;
        compute(&part, op);
    }
}

void generic_op(const GenericPass *pass, const PlanOp *op)
{
    if (!generic_computes[op->kernel]) die("the generic engine has no kernel %d", (int)op->kernel);
    generic_run(pass, op, generic_computes[op->kernel]);
}
