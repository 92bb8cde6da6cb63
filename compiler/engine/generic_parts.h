/* generic_parts.h: what the operations of the generic engine (generic_ops.c) and their sizes
 * (generic_sizes.c) share: addresses of operands, and parts of norms, pooling and attention. */
#ifndef GENERIC_PARTS_H
#define GENERIC_PARTS_H

#include <math.h>

#include "generic.h"

/* ---- operands -------------------------------------------------------------------------------- */

static inline int64_t generic_in_use(const GenericPass *pass, Dim d)
{
    return d.count == COUNT_CONSTANT ? d.bound : pass->used[d.count];
}

/* Rows in use of a tensor [rows, width]. */
static inline int generic_rows_of(const GenericPass *pass, const Tensor *t)
{
    return (int)generic_in_use(pass, t->dim[0]);
}

static inline float *generic_row(const GenericPass *pass, const Buffer *b, int r)
{
    return (float *)generic_address(pass, b) + (int64_t)r * b->stride;
}

static inline const int32_t *generic_integers(const GenericPass *pass, const Buffer *b)
{
    return generic_address(pass, b);
}

/* A param of this layer; NULL if t is NULL. */
static inline const float *generic_weights(const GenericPass *pass, const Tensor *t)
{
    const Generic *g = pass->engine->own;
    const int layer = t && t->layers ? pass->layer : 0;
    return !t ? NULL : g->weights[t->id][layer] ? g->weights[t->id][layer] : generic_read_weights(pass->engine, t, layer);
}

static inline const float *generic_row_of_table(const GenericPass *pass, const Tensor *t,
                                                int64_t row)
{
    return generic_table_row(pass->engine, t, t->layers ? pass->layer : 0, row);
}

static inline int generic_threads(const GenericPass *pass)
{
    return ((const Generic *)pass->engine->own)->threads;
}

static inline Product *generic_product_of(const GenericPass *pass)
{
    return ((const Generic *)pass->engine->own)->product;
}

/* ---- parts of operations --------------------------------------------------------------------- */

/* The factor that scales each difference from the mean; squares: the sum of the squared
 * differences. */
static inline double generic_norm_factor(const Node *n, double squares, int width)
{
    if (n->kind == NORMS_ANNOTATED) return 1 / (sqrt(squares / (width - 1)) + n->eps);
    return 1 / sqrt(squares / width + n->eps);
}

/* Pool a column of `rows` numbers, `stride` apart, to one number; kind: POOLINGS_*. */
static inline double generic_pooled_of(const float *x, int64_t stride, int64_t kind, int rows)
{
    double sum = 0, most = -INFINITY, weighted = 0;
    for (int r = 0; r < rows; r++) {
        const double v = x[r * stride];
        sum += v;
        weighted += (r + 1) * v;
        most = fmax(most, v);
    }
    switch (kind) {
    case POOLINGS_MEAN:         return sum / rows;
    case POOLINGS_MEAN_SQRT:    return sum / sqrt(rows);
    case POOLINGS_WEIGHTEDMEAN: return weighted / (0.5 * rows * (rows + 1.0));
    case POOLINGS_MAX:          return most;
    default:                    return x[kind == POOLINGS_CLS ? 0 : (rows - 1) * stride];
    }
}

/* log(sum(exp(x))) */
static inline double generic_log_of_sum(const float *x, int64_t n)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - most);
    return most + log(sum);
}

/* Adjustments to the scores of one row and head, besides the scale: the bias by distance, the mask
 * and the added tensor, each from key 0 on, or NULL; and the softcap. */
typedef struct GenericAdjustment {
    const float *bias, *mask, *added;
    double softcap;
} GenericAdjustment;

static inline GenericAdjustment generic_adjustment_of(const GenericPass *pass, const PlanOp *op,
                                                      int h, int r)
{
    GenericAdjustment a = { .softcap = op->node->softcap };
    if (op->weights) {
        const Tensor *t = op->weights->tensor[0];
        const int64_t distances = t->dim[1].bound, reach = (distances + 1) / 2;
        const int64_t distance = generic_integers(pass, op->in[5])[r];
        a.bias = generic_weights(pass, t) + h * distances + reach - 1 - distance;
    }
    if (op->in[6]) a.mask = generic_row(pass, op->in[6], r);
    const Buffer *added = op->in[8];
    if (added) a.added = generic_row(pass, added, added->heads > 1 ? h * added->rows + r : r);
    return a;
}

/* One head: where its columns begin in queries, keys, values and results, and its weights and
 * scores. */
typedef struct GenericHead { float *q, *k, *v, *out, *weights, *scores; } GenericHead;

static inline GenericHead generic_head_of(const GenericPass *pass, const PlanOp *op, int h, int d_k,
                                          int d_v)
{
    const Buffer *w = op->out[1], *s = op->out[2];
    const int shared = h / (op->node->heads / op->node->kv_heads);
    return (GenericHead){
        .q = generic_row(pass, op->in[0], 0) + h * d_k,
        .k = generic_row(pass, op->in[1], 0) + shared * d_k,
        .v = generic_row(pass, op->in[2], 0) + shared * d_v,
        .out = generic_row(pass, op->out[0], 0) + h * d_v,
        .weights = generic_row(pass, w, 0) + h * w->rows * w->stride,
        .scores = generic_row(pass, s, 0) + h * s->rows * s->stride,
    };
}

/* The keys that row r sees: the first `visible`; with a window, only the last of them, or those
 * around the position of the row. */
static inline rt_span generic_keys_of(const GenericPass *pass, const PlanOp *op, int r, int visible)
{
    const int window = (int)op->node->window;
    const int own = op->in[5] ? generic_integers(pass, op->in[5])[r] + 1 : visible;
    const int last = own + window - 1;
    if (!window) return (rt_span){ 0, visible };
    return (rt_span){ own > window ? own - window : 0, op->in[5] && last < visible ? last : visible };
}

#endif
