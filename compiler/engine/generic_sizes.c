/* generic_sizes.c: for each number of a result, the sum of the absolute values of its terms.
 *
 * An engine that adds the terms in a different order, or rounds intermediate results, has an error
 * of a few ulps of that sum, however small the result is. Each function sets sizes[rows][width]
 * before its operation runs, since the operation may overwrite its input. The one for attention
 * runs afterwards, because it needs the attention weights. */
#include "generic_parts.h"

#include <stdlib.h>
#include <string.h>

static float *sizes_of(const GenericPass *pass, const PlanOp *op, int r)
{
    return ((const Generic *)pass->engine->own)->sizes + (pass->first_row + r) * op->out[0]->width;
}

/* A dense copy of |x|; the n rows of x are `stride` apart. The caller frees it. */
static float *absolute(const float *x, int64_t n, int64_t width, int64_t stride)
{
    float *y = malloc((size_t)(n * width) * sizeof *y);
    if (!y) no_memory("%lld numbers", (long long)(n * width));
    for (int64_t i = 0; i < n * width; i++) y[i] = fabsf(x[i / width * stride + i % width]);
    return y;
}

/* |b| + |x| |w|^T */
static void linear_sizes(const GenericPass *pass, const PlanOp *op)
{
    const Tensor *w = op->node->in[1];
    const float *bias = generic_weights(pass, op->node->in[2]);
    const int n = (int)w->dim[0].bound, k = (int)w->dim[1].bound;
    const int rows = generic_rows_of(pass, op->result);
    float *a = absolute(generic_row(pass, op->in[0], 0), rows, k, op->in[0]->stride);
    float *b = absolute(generic_weights(pass, w), n, k, k), *to = sizes_of(pass, op, 0);
    const BlasProduct product = { .m = rows, .n = n, .k = k, .a_stride = k, .b_stride = k,
                                  .c_stride = n, .transposed = true, .add = true,
                                  .threads = generic_threads(pass) };
    for (int64_t i = 0; i < (int64_t)rows * n; i++) to[i] = bias ? fabsf(bias[i % n]) : 0;
    generic_product_of(pass)(&product, to, a, b);
    free(a);
    free(b);
}

/* |gain| factor (|x| + mean |x|) + |bias|, with the factor of generic_norm_factor; RMS norm has no
 * mean: |gain x| factor + |bias|. */
static void norm_sizes(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const float *gain = generic_weights(pass, n->in[1]), *bias = generic_weights(pass, n->in[2]);
    const int heads = n->heads > 1 ? n->heads : 1, width = (int)op->out[0]->width / heads;
    for (int i = 0; i < generic_rows_of(pass, op->result) * heads; i++) {
        const float *x = generic_row(pass, op->in[0], i / heads) + i % heads * width;
        float *to = sizes_of(pass, op, i / heads) + i % heads * width;
        double mean = 0, size = 0, squares = 0;
        for (int j = 0; j < width && n->kind != NORMS_RMS; j++) {
            mean += (double)x[j] / width;
            size += fabs((double)x[j]) / width;
        }
        for (int j = 0; j < width; j++) squares += (x[j] - mean) * (x[j] - mean);
        const double factor = generic_norm_factor(n, squares, width);
        for (int j = 0; j < width; j++)
            to[j] = (float)(fabs(gain[j] * factor) * (fabs(x[j]) + size)
                            + (bias ? fabs(bias[j]) : 0));
    }
}

static void add_sizes(const GenericPass *pass, const PlanOp *op)
{
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *a = generic_row(pass, op->in[0], r), *b = generic_row(pass, op->in[1], r);
        float *to = sizes_of(pass, op, r);
        for (int i = 0; i < op->out[0]->width; i++) to[i] = fabsf(a[i]) + fabsf(b[i]);
    }
}

/* True if the activation is x times a factor of at most 1, such as (1 + erf) / 2, whose terms may
 * cancel. Its error is then at most a few ulps of x. */
static bool multiplies(int activation)
{
    return activation == RT_GELU || activation == RT_GELU_TANH || activation == RT_QUICK_GELU
        || activation == RT_SILU;
}

static void activation_sizes(const GenericPass *pass, const PlanOp *op)
{
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        const float *by = op->kernel == KERNEL_GATE ? generic_row(pass, op->in[1], r) : NULL;
        float *to = sizes_of(pass, op, r);
        for (int i = 0; i < op->out[0]->width && multiplies(op->activation); i++)
            to[i] = fabsf(by ? x[i] * by[i] : x[i]);
    }
}

/* One pair of a head. */
static void pair_sizes(const Node *n, float *to, const float *x, const float *angle, int j)
{
    const int half = n->dims / 2;
    const int first = n->interleaved ? 2 * j : j, second = n->interleaved ? 2 * j + 1 : j + half;
    const float a = fabsf(x[first]), b = fabsf(x[second]);
    const float c = fabsf(angle[j]), s = fabsf(angle[half + j]);
    to[first] = a * c + b * s;
    to[second] = b * c + a * s;
}

static void rotary_sizes(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const float *table = generic_weights(pass, op->weights->tensor[0]);
    const int32_t *positions = generic_integers(pass, op->in[2]);
    const int width = (int)op->out[0]->width / n->heads, half = n->dims / 2;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++)
        for (int i = 0; i < n->heads * half; i++) {
            const int head = i / half * width;
            pair_sizes(n, sizes_of(pass, op, r) + head, generic_row(pass, op->in[0], r) + head,
                       table + (int64_t)positions[r] * n->dims, i % half);
        }
}

/* Pool |x| instead of x. */
static void pool_sizes(const GenericPass *pass, const PlanOp *op)
{
    const FieldList *parts = op->node->parts;
    const int64_t width = op->in[0]->width;
    const int rows = generic_integers(pass, op->in[1])[0];
    float *x = absolute(generic_row(pass, op->in[0], 0), rows, width, op->in[0]->stride);
    float *to = sizes_of(pass, op, 0);
    for (int64_t i = 0; i < parts->count * width; i++)
        to[i] = (float)generic_pooled_of(x + i % width, width, parts->value[i / width], rows);
    free(x);
}

/* |x| + |log of the sum| */
static void log_softmax_sizes(const GenericPass *pass, const PlanOp *op)
{
    const int64_t width = op->in[0]->width;
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *x = generic_row(pass, op->in[0], r);
        const double log_sum = generic_log_of_sum(x, width);
        float *to = sizes_of(pass, op, r);
        for (int64_t i = 0; i < width; i++) to[i] = (float)(fabs((double)x[i]) + fabs(log_sum));
    }
}

static double length(const float *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* z[seen] of one row of a head: |scale| sum |q k| + |bias| + |added|, where an added -inf counts as
 * 0. For int8 keys, which are rotated, |q| |k| bounds the sum. Taps of scores receive sum |q k|. */
static void score_sizes(double *z, const GenericPass *pass, const PlanOp *op, int h, int r,
                        const GenericHead *at)
{
    const GenericAdjustment a = generic_adjustment_of(pass, op, h, r);
    const rt_span seen = generic_keys_of(pass, op, r, generic_integers(pass, op->in[3])[r]);
    const int d_k = (int)op->node->in[0]->dim[1].bound / op->node->heads;
    const bool rotated = pass->engine->plan->graph->model->kv_dtype == KV_DTYPES_INT8 && op->node->in[1]->kind == TENSOR_STATE;
    const float *q = at->q + r * op->in[0]->stride;
    const double q_length = rotated ? length(q, d_k) : 0;
    float *score = at->scores + r * op->out[2]->stride;
    for (int j = seen.begin; j < seen.end; j++) {
        const float *k = at->k + j * op->in[1]->stride;
        double size = rotated ? q_length * length(k, d_k) : 0;
        for (int i = 0; i < d_k && !rotated; i++) size += fabs((double)q[i] * k[i]);
        z[j] = fabs(op->node->scale) * size + (a.bias ? fabs(a.bias[j]) : 0);
        if (a.added && a.added[j] > -INFINITY) z[j] += fabs(a.added[j]);
        if (op->out[2]->place == PLACE_TAP) score[j] = (float)size;
    }
}

/* If each score has an error of a few ulps of z, each weight w has one of a few ulps of w (1 + z +
 * sum w z). That, times |v| and summed over the keys, is the error of the result. Taps of weights
 * and scores receive their sizes instead. */
static void attention_row_sizes(const GenericPass *pass, const PlanOp *op, int h, int r,
                                const GenericHead *at, double *z)
{
    const rt_span seen = generic_keys_of(pass, op, r, generic_integers(pass, op->in[3])[r]);
    const int d_v = (int)op->node->out[0]->dim[1].bound / op->node->heads;
    float *w = at->weights + r * op->out[1]->stride, *to = sizes_of(pass, op, r) + h * d_v;
    double mean = 0;
    score_sizes(z, pass, op, h, r, at);
    for (int j = seen.begin; j < seen.end; j++) mean += w[j] * z[j];
    for (int j = seen.begin; j < seen.end; j++) {
        if (w[j] == 0) continue;        /* a masked value may be NaN */
        const float size = (float)(w[j] * (1 + z[j] + mean));
        for (int i = 0; i < d_v; i++) to[i] += size * fabsf(at->v[j * op->in[2]->stride + i]);
        if (op->out[1]->place == PLACE_TAP) w[j] = size;
    }
}

static void attention_sizes(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const int d_k = (int)n->in[0]->dim[1].bound / n->heads;
    const int d_v = (int)n->out[0]->dim[1].bound / n->heads;
    const int rows = generic_rows_of(pass, op->result);
    double *z = malloc((size_t)op->out[1]->width * sizeof *z);
    if (!z) no_memory("%lld numbers", (long long)op->out[1]->width);
    for (int h = 0; h < n->heads; h++) {
        const GenericHead at = generic_head_of(pass, op, h, d_k, d_v);
        for (int r = 0; r < rows; r++) attention_row_sizes(pass, op, h, r, &at, z);
    }
    free(z);
}

/* The sizes of other operations are |result|: they round once, have no terms that cancel, or are
 * the user's C. */
static GenericCompute *const weighs[KERNELS] = {
    [KERNEL_LINEAR] = linear_sizes,   [KERNEL_NORM] = norm_sizes,       [KERNEL_ADD] = add_sizes,
    [KERNEL_ACTIVATION] = activation_sizes, [KERNEL_GATE] = activation_sizes,
    [KERNEL_ROTARY] = rotary_sizes,   [KERNEL_POOL] = pool_sizes,
    [KERNEL_LOG_SOFTMAX] = log_softmax_sizes,
    [KERNEL_ATTENTION] = attention_sizes, [KERNEL_WINDOW] = attention_sizes,
};

/* Compute an operation and its sizes, which are at least |result|. */
static void compute_weighed(const GenericPass *pass, const PlanOp *op)
{
    const bool behind = kernel_is_attention(op->kernel);
    const int64_t width = op->out[0]->width;
    float *sizes = sizes_of(pass, op, 0);
    memset(sizes, 0, (size_t)(generic_rows_of(pass, op->result) * width) * sizeof *sizes);
    if (weighs[op->kernel] && !behind) weighs[op->kernel](pass, op);
    generic_computes[op->kernel](pass, op);
    if (behind) weighs[op->kernel](pass, op);
    for (int r = 0; r < generic_rows_of(pass, op->result); r++) {
        const float *y = generic_row(pass, op->out[0], r);
        for (int i = 0; i < width; i++)
            sizes[r * width + i] = fmaxf(sizes[r * width + i], fabsf(y[i]));
    }
}

static void tap_sizes(const GenericPass *pass, const PlanOp *op)
{
    const size_t bytes = (size_t)op->out[0]->width * sizeof(float);
    for (int r = 0; r < generic_rows_of(pass, op->result); r++)
        memcpy(generic_row(pass, op->out[0], r), sizes_of(pass, op, r), bytes);
}

void generic_op_weighed(const GenericPass *pass, const PlanOp *op)
{
    const Buffer *out = op->out[0];
    const bool tap = op->kernel == KERNEL_ACTIVATION && out && out->place == PLACE_TAP;
    if (!out || out->layout != LAYOUT_ROWS || out->place == PLACE_SLOT) generic_op(pass, op);
    else generic_run(pass, op, tap ? tap_sizes : compute_weighed);
}
