/* graph_shape.c: the shape rule of each operation, with its error messages. */
#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "rt.h"

typedef bool ShapeRule(Diag *d, Node *n);

static const char *name_of(const Node *n) { return n->word ? n->word : op_rows[n->op].name; }

static bool refuse(Diag *d, const Node *n, const char *what)
{
    diag_error(d, EXIT_BAD_DATA, n->at, "%s: %s", name_of(n), what);
    diag_note(d, (Loc){ 0 }, "%s", op_rows[n->op].signature);
    return false;
}

static bool wants_rank(Diag *d, const Node *n, int input, int rank)
{
    const Tensor *t = n->in[input];
    if (!t) {
        diag_error(d, EXIT_BAD_DATA, n->at, "%s: input %d is missing", name_of(n), input + 1);
        return false;
    }
    if (t->rank == rank) return true;
    diag_error(d, EXIT_BAD_DATA, n->at, "%s: input %d has %d dimension%s, expected %d", name_of(n), input + 1,
               t->rank, t->rank == 1 ? "" : "s", rank);
    return false;
}

static bool wants_size(Diag *d, const Node *n, int input, int axis, int64_t size, const char *why)
{
    int64_t found = n->in[input]->dim[axis].bound;
    if (found == size) return true;
    diag_error(d, EXIT_BAD_DATA, n->at, "%s: dimension %d of input %d is %lld, expected %lld (%s)", name_of(n),
               axis + 1, input + 1, (long long)found, (long long)size, why);
    return false;
}

/* A width must be a multiple of the number of heads. */
static bool wants_heads(Diag *d, const Node *n, int input, int heads)
{
    int64_t width = n->in[input]->dim[1].bound;
    if (heads > 0 && width % heads == 0) return true;
    const char *option = n->op == OP_ATTENTION && input > 0 ? "kv_heads" : "heads";
    diag_error(d, EXIT_BAD_DATA, n->at, "%s: the width %lld of input %d is not divisible by %s (%d)", name_of(n),
               (long long)width, input + 1, option, heads);
    return false;
}

static void give(Tensor *t, int rank, Dim a, Dim b, Dim c)
{
    t->rank = rank;
    t->dim[0] = a;
    t->dim[1] = b;
    t->dim[2] = c;
}

static bool like_input(Node *n)
{
    give(n->out[0], 2, n->in[0]->dim[0], n->in[0]->dim[1], (Dim){ 0 });
    return true;
}

static bool shape_embed(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 1)) return false;
    give(n->out[0], 2, n->in[1]->dim[0], n->in[0]->dim[1], (Dim){ 0 });
    return true;
}

static bool shape_position(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 2) || !wants_rank(d, n, 2, 1)) return false;
    return wants_size(d, n, 1, 1, n->in[0]->dim[1].bound, "the width of x") && like_input(n);
}

/* Each of `heads` heads is normalised separately; gain and bias are as wide as one head. */
static bool shape_norm(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 1)) return false;
    int heads = n->heads ? n->heads : 1;
    if (!wants_heads(d, n, 0, heads)) return false;
    int64_t width = n->in[0]->dim[1].bound / heads;
    const char *why = heads > 1 ? "the width of one head" : "the width of x";
    if (!wants_size(d, n, 1, 0, width, why)) return false;
    if (n->kind == NORMS_RMS && n->in[2]) return refuse(d, n, "an RMS norm has no bias");
    if (n->kind == NORMS_ANNOTATED && width == 1)
        return refuse(d, n, "a width of 1 is too small for the annotated norm: its std divides by the width - 1");
    if (n->kind == NORMS_RMS) return like_input(n);
    return wants_rank(d, n, 2, 1) && wants_size(d, n, 2, 0, width, why) && like_input(n);
}

static bool shape_linear(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 2)) return false;
    if (n->in[1]->kind != TENSOR_PARAM) return refuse(d, n, "the weights must be a parameter");
    Dim out = n->in[1]->dim[0];
    if (!wants_size(d, n, 1, 1, n->in[0]->dim[1].bound, "the width of x")) return false;
    if (n->in[2] && (!wants_rank(d, n, 2, 1) || !wants_size(d, n, 2, 0, out.bound, "the number of outputs of w"))) return false;
    give(n->out[0], 2, n->in[0]->dim[0], out, (Dim){ 0 });
    return true;
}

static bool shape_two(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 2)) return false;
    return wants_size(d, n, 1, 0, n->in[0]->dim[0].bound, "as in input 1") && wants_size(d, n, 1, 1, n->in[0]->dim[1].bound, "as in input 1") &&
           like_input(n);
}

static bool shape_alike(Diag *d, Node *n) { return wants_rank(d, n, 0, 2) && like_input(n); }

/* An identity may also copy a tensor with three dimensions, such as attention weights. */
static bool shape_activation(Diag *d, Node *n)
{
    const Tensor *x = n->in[0];
    if (!x || x->rank != 3 || n->kind != RT_IDENTITY) return shape_alike(d, n);
    give(n->out[0], 3, x->dim[0], x->dim[1], x->dim[2]);
    return true;
}


static bool shape_rotary(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 2) || !wants_rank(d, n, 2, 1) || !wants_heads(d, n, 0, n->heads)) return false;
    if (n->dims < 2 || n->dims % 2 || n->dims > n->in[0]->dim[1].bound / n->heads)
        return refuse(d, n, "dims must be even, at least 2 and at most the width of a head");
    return wants_size(d, n, 1, 1, n->dims, "dims") && like_input(n);
}

static bool shape_append(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 2) || !wants_rank(d, n, 2, 1)) return false;
    if (n->in[0]->kind != TENSOR_STATE) return refuse(d, n, "the cache must be a state");
    return wants_size(d, n, 1, 1, n->in[0]->dim[1].bound, "the width of the cache") && like_input(n);
}

enum { SIZES_TEXT = 96 };

/* "4 × 3" */
static const char *sizes(char text[SIZES_TEXT], int rank, const Dim *dim)
{
    int used = 0;
    for (int r = 0; r < rank; r++)
        used += snprintf(text + used, (size_t)(SIZES_TEXT - used), "%s%lld", r ? " × " : "",
                         (long long)dim[r].bound);
    return text;
}

/* Check a mask, [queries, keys], or, with by_head, a bias, which may also be [heads, queries,
 * keys]. */
static bool shape_beside(Diag *d, const Node *n, int input, const char *name, bool by_head)
{
    char found[SIZES_TEXT], all[SIZES_TEXT], each[SIZES_TEXT];
    const Tensor *t = n->in[input];
    const Dim wanted[3] = { { n->heads, COUNT_CONSTANT }, n->in[0]->dim[0], n->in[1]->dim[0] };
    const int most = by_head ? 3 : 2;
    bool fits = t->rank >= 2 && t->rank <= most;
    for (int r = 0; fits && r < t->rank; r++)
        fits = t->dim[r].bound == wanted[3 - t->rank + r].bound;
    if (fits) return true;
    diag_error(d, EXIT_BAD_DATA, n->at, "attention: the %s is %s, expected %s (queries × keys)%s%s%s",
               name, sizes(found, t->rank, t->dim), sizes(all, 2, wanted + 1),
               by_head ? " or " : "", by_head ? sizes(each, 3, wanted) : "",
               by_head ? " (heads × queries × keys)" : "");
    return false;
}

static bool shape_attention(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 2) || !wants_rank(d, n, 2, 2)) return false;
    for (int i = 3; i < 6; i++)
        if (n->in[i] && !wants_rank(d, n, i, 1)) return false;
    if (!wants_heads(d, n, 0, n->heads) || !wants_heads(d, n, 1, n->kv_heads) || !wants_heads(d, n, 2, n->kv_heads)) return false;
    if (n->heads % n->kv_heads != 0) return refuse(d, n, "heads must be a multiple of kv_heads");
    int64_t d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->in[2]->dim[1].bound / n->kv_heads;
    Dim queries = n->in[0]->dim[0], keys = n->in[1]->dim[0];
    if (!wants_size(d, n, 1, 1, d_k * n->kv_heads, "kv_heads times the width of a query head")) return false;
    if (!wants_size(d, n, 2, 0, keys.bound, "as many values as keys")) return false;
    if (n->in[6] && !shape_beside(d, n, 6, "mask", false)) return false;
    if (n->in[7] && (!wants_rank(d, n, 7, 2) || !wants_size(d, n, 7, 0, n->heads, "one row per head"))) return false;
    if (n->in[8] && !shape_beside(d, n, 8, "bias", true)) return false;
    const Dim heads = { n->heads, COUNT_CONSTANT };
    give(n->out[0], 2, queries, (Dim){ d_v * n->heads, COUNT_CONSTANT }, (Dim){ 0 });
    give(n->out[1], 3, heads, queries, keys);
    give(n->out[2], 3, heads, queries, keys);
    return true;
}

static bool shape_pool(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2) || !wants_rank(d, n, 1, 1)) return false;
    const Dim width = { n->in[0]->dim[1].bound * n->parts->count, COUNT_CONSTANT };
    give(n->out[0], 2, (Dim){ 1, COUNT_CONSTANT }, width, (Dim){ 0 });
    return true;
}

static bool shape_argmax(Diag *d, Node *n)
{
    if (!wants_rank(d, n, 0, 2)) return false;
    give(n->out[0], 1, n->in[0]->dim[0], (Dim){ 0 }, (Dim){ 0 });
    n->out[0]->integer = true;
    return true;
}

/* Values are [rows, columns]; a parameter may have one dimension. */
static bool shape_custom(Diag *d, Node *n)
{
    for (int i = 0; i < n->custom->input_count; i++) {
        const Tensor *t = n->in[i];
        if (t && (t->rank == 2 || (t->rank == 1 && t->kind == TENSOR_PARAM))) continue;
        const int rank = t ? t->rank : 0;
        diag_error(d, EXIT_BAD_DATA, n->at, "%s: %s has %d dimension%s, expected %s", n->custom->name, n->custom->inputs[i], rank,
                   rank == 1 ? "" : "s", t && t->kind == TENSOR_PARAM ? "1 or 2" : "2");
        return false;
    }
    give(n->out[0], 2, (Dim){ n->shape[0], COUNT_CONSTANT }, (Dim){ n->shape[1], COUNT_CONSTANT }, (Dim){ 0 });
    return true;
}

static ShapeRule *const shape_rules[OP_KINDS] = {
    [OP_EMBED] = shape_embed,     [OP_POSITION] = shape_position, [OP_NORM] = shape_norm,
    [OP_LINEAR] = shape_linear,   [OP_ACTIVATION] = shape_activation,
    [OP_APPEND] = shape_append,   [OP_ATTENTION] = shape_attention, [OP_LOG_SOFTMAX] = shape_alike,
    [OP_ARGMAX] = shape_argmax,   [OP_GATE] = shape_two,          [OP_ROTARY] = shape_rotary,
    [OP_SCALE] = shape_alike,     [OP_POOL] = shape_pool,
    [OP_CUSTOM] = shape_custom,
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) [OP_##id] = inputs > 1 ? shape_two : shape_alike,
#include "ops.def"
#undef OP
};

bool graph_shape(Diag *d, Node *n)
{
    return shape_rules[n->op](d, n);
}
