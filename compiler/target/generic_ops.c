/* generic_ops.c: every kernel as its definition says, on row-major buffers.
 *
 * It is what the emitted code is held to, so sums that BLAS does not do are in double and exponentials are libm's.
 * In: a pass (engine, layer, lengths) and an operation. Out: the operation's buffers; nothing else is written. */
#include "generic.h"

#include <math.h>
#include <string.h>

#include "generic_blas.h"

/* ---- operands ------------------------------------------------------------------------------------------- */

static int64_t in_use(const GenericPass *pass, Dim d)
{
    return d.count == COUNT_CONSTANT ? d.bound : pass->used[d.count];
}

/* Rows in use of a tensor [rows, width]. */
static int rows_of(const GenericPass *pass, const Tensor *t) { return (int)in_use(pass, t->dim[0]); }

static float *row(const GenericPass *pass, const Buffer *b, int r)
{
    return (float *)generic_address(pass, b) + (int64_t)r * b->stride;
}

static const int32_t *integers(const GenericPass *pass, const Buffer *b) { return generic_address(pass, b); }

/* A param of this layer; NULL where the operation has none. */
static const float *weights(const GenericPass *pass, const Tensor *t)
{
    const Generic *g = pass->engine->own;
    return t ? g->weights[t->id][t->layers ? pass->layer : 0] : NULL;
}

static int lanes(const GenericPass *pass) { return ((const Generic *)pass->engine->own)->lanes; }

/* ---- rows ----------------------------------------------------------------------------------------------- */

static void embed(const GenericPass *pass, const PlanOp *op)
{
    const float *table = weights(pass, op->node->in[0]);
    const int32_t *ids = integers(pass, op->in[1]);
    const int width = (int)op->out[0]->width;
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *from = table + (int64_t)ids[r] * width;
        float *y = row(pass, op->out[0], r);
        for (int i = 0; i < width; i++) y[i] = (float)(op->node->scale * from[i]);
    }
}

static void position(const GenericPass *pass, const PlanOp *op)
{
    const float *table = weights(pass, op->node->in[1]);
    const int32_t *positions = integers(pass, op->in[2]);
    const int width = (int)op->out[0]->width;
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *x = row(pass, op->in[0], r), *from = table + (int64_t)positions[r] * width;
        float *y = row(pass, op->out[0], r);
        for (int i = 0; i < width; i++) y[i] = x[i] + from[i];
    }
}

/* What each difference from the mean is multiplied by; squares: the sum of their squares. */
static double norm_factor(const Node *n, double squares, int width)
{
    if (n->kind == NORMS_ANNOTATED) return 1 / (sqrt(squares / (width - 1)) + n->eps);
    return 1 / sqrt(squares / width + n->eps);
}

static void norm(const GenericPass *pass, const PlanOp *op)
{
    const float *gain = weights(pass, op->node->in[1]), *bias = weights(pass, op->node->in[2]);
    const int width = (int)op->out[0]->width;
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *x = row(pass, op->in[0], r);
        float *y = row(pass, op->out[0], r);
        double mean = 0, squares = 0;
        for (int i = 0; i < width; i++) mean += x[i];
        mean /= width;
        for (int i = 0; i < width; i++) squares += (x[i] - mean) * (x[i] - mean);
        const double factor = norm_factor(op->node, squares, width);
        for (int i = 0; i < width; i++) y[i] = (float)(gain[i] * ((x[i] - mean) * factor) + bias[i]);
    }
}

static void linear(const GenericPass *pass, const PlanOp *op)
{
    const Tensor *w = op->node->in[1], *b = op->node->in[2];
    const float *bias = weights(pass, b);
    const int n = (int)w->dim[0].bound, k = (int)w->dim[1].bound, rows = rows_of(pass, op->result);
    for (int r = 0; bias && r < rows; r++) memcpy(row(pass, op->out[0], r), bias, (size_t)n * sizeof *bias);
    const BlasProduct product = { .m = rows, .n = n, .k = k, .a_stride = (int)op->in[0]->stride, .b_stride = k,
                                  .c_stride = (int)op->out[0]->stride, .transposed = true, .add = bias != NULL,
                                  .lanes = lanes(pass) };
    blas_product(&product, row(pass, op->out[0], 0), row(pass, op->in[0], 0), weights(pass, w));
}

static void add(const GenericPass *pass, const PlanOp *op)
{
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *a = row(pass, op->in[0], r), *b = row(pass, op->in[1], r);
        float *y = row(pass, op->out[0], r);
        for (int i = 0; i < op->out[0]->width; i++) y[i] = a[i] + b[i];
    }
}

static float identity(float x) { return x; }
static float relu(float x) { return x > 0 ? x : 0; }

static float (*const activations[RT_ACTIVATIONS])(float) = { [RT_IDENTITY] = identity, [RT_RELU] = relu };

static void activation(const GenericPass *pass, const PlanOp *op)
{
    float (*const f)(float) = activations[op->activation];
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *x = row(pass, op->in[0], r);
        float *y = row(pass, op->out[0], r);
        for (int i = 0; i < op->out[0]->width; i++) y[i] = f(x[i]);
    }
}

/* Keys and values lie alike here: a row goes to the row of its position. */
static void store(const GenericPass *pass, const PlanOp *op)
{
    const int32_t *positions = integers(pass, op->in[2]);
    for (int r = 0; r < rows_of(pass, op->node->in[1]); r++)
        memcpy(row(pass, op->out[0], positions[r]), row(pass, op->in[1], r), (size_t)op->in[1]->width * sizeof(float));
}

/* ---- attention ------------------------------------------------------------------------------------------ */

/* w[keys] = softmax over the first `visible` of scale * s, 0 behind; s is cut off there too. */
static void softmax(float *w, float *s, int visible, int keys, double scale)
{
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < visible; j++) most = fmax(most, scale * s[j]);
    for (int j = 0; j < visible; j++) sum += w[j] = expf((float)(scale * s[j] - most));
    for (int j = 0; j < visible; j++) w[j] = (float)(w[j] / sum);
    for (int j = visible; j < keys; j++) w[j] = s[j] = 0;
}

/* One head: where its columns begin in the rows of queries, keys, values and results. */
typedef struct Head { float *q, *k, *v, *out, *weights, *scores; } Head;

static Head head_of(const GenericPass *pass, const PlanOp *op, int h, int d_k, int d_v)
{
    const Buffer *w = op->out[1], *s = op->out[2];
    const int shared = h / (op->node->heads / op->node->kv_heads);
    return (Head){ .q = row(pass, op->in[0], 0) + h * d_k, .k = row(pass, op->in[1], 0) + shared * d_k,
                   .v = row(pass, op->in[2], 0) + shared * d_v, .out = row(pass, op->out[0], 0) + h * d_v,
                   .weights = row(pass, w, 0) + h * w->rows * w->stride,
                   .scores = row(pass, s, 0) + h * s->rows * s->stride };
}

/* softmax(scale q k^T) v; every row takes part with the first visible[row] keys. */
static void attention(const GenericPass *pass, const PlanOp *op)
{
    const Node *n = op->node;
    const Buffer *weight = op->out[1], *score = op->out[2];
    const int32_t *visible = integers(pass, op->in[3]);
    const int d_k = (int)n->in[0]->dim[1].bound / n->heads, d_v = (int)n->out[0]->dim[1].bound / n->heads;
    const int rows = rows_of(pass, op->result);
    int most = 0;
    for (int r = 0; r < rows; r++) most = visible[r] > most ? visible[r] : most;
    const BlasProduct scores = { .m = rows, .n = most, .k = d_k, .a_stride = (int)op->in[0]->stride,
                                 .b_stride = (int)op->in[1]->stride, .c_stride = (int)score->stride, .transposed = true,
                                 .lanes = lanes(pass) };
    const BlasProduct values = { .m = rows, .n = d_v, .k = most, .a_stride = (int)weight->stride,
                                 .b_stride = (int)op->in[2]->stride, .c_stride = (int)op->out[0]->stride, .lanes = lanes(pass) };
    for (int h = 0; h < n->heads; h++) {
        const Head at = head_of(pass, op, h, d_k, d_v);
        if (most) blas_product(&scores, at.scores, at.q, at.k);
        for (int r = 0; r < rows; r++)
            softmax(at.weights + r * weight->stride, at.scores + r * score->stride, visible[r], (int)weight->width, n->scale);
        if (most) blas_product(&values, at.out, at.weights, at.v);
        for (int r = 0; r < rows; r++)      /* whatever a hidden value is, 0 times it is 0 */
            if (!visible[r]) memset(at.out + r * op->out[0]->stride, 0, (size_t)d_v * sizeof(float));
    }
}

/* ---- vocabulary ----------------------------------------------------------------------------------------- */

static void log_softmax(const GenericPass *pass, const PlanOp *op)
{
    const int64_t width = op->in[0]->width;
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *x = row(pass, op->in[0], r);
        float *y = row(pass, op->out[0], r);
        double most = -INFINITY, sum = 0;
        for (int64_t i = 0; i < width; i++) most = fmax(most, x[i]);
        for (int64_t i = 0; i < width; i++) sum += exp(x[i] - most);
        const double log_sum = most + log(sum);
        for (int64_t i = 0; i < width; i++) y[i] = (float)(x[i] - log_sum);
    }
}

static void argmax(const GenericPass *pass, const PlanOp *op)
{
    int32_t *y = generic_address(pass, op->out[0]);
    for (int r = 0; r < rows_of(pass, op->result); r++) {
        const float *x = row(pass, op->in[0], r);
        int best = 0;
        for (int i = 1; i < op->in[0]->width; i++)
            if (x[i] > x[best]) best = i;
        y[r] = best;
    }
}

/* ---- dispatch ------------------------------------------------------------------------------------------- */

typedef void Compute(const GenericPass *pass, const PlanOp *op);
static Compute *const computes[KERNELS] = {
    [KERNEL_LINEAR] = linear,         [KERNEL_NORM] = norm,             [KERNEL_EMBED] = embed,
    [KERNEL_POSITION] = position,     [KERNEL_ADD] = add,               [KERNEL_ACTIVATION] = activation,
    [KERNEL_STORE_K] = store,         [KERNEL_STORE_V] = store,         [KERNEL_ATTENTION] = attention,
    [KERNEL_LOG_SOFTMAX] = log_softmax, [KERNEL_ARGMAX] = argmax,
};

void generic_op(const GenericPass *pass, const PlanOp *op)
{
    if (!computes[op->kernel]) die("the generic engine has no kernel %d", (int)op->kernel);
    computes[op->kernel](pass, op);
}
