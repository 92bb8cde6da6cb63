/* plan_lower.h: shared by the files of the lowering pass. */
#ifndef PLAN_LOWER_H
#define PLAN_LOWER_H

#include "plan.h"

/* Uses of a tensor in the block being lowered: the number of node inputs that read it, and the last
 * node that does. */
typedef struct Uses { int count, last; } Uses;

typedef struct Lower {
    Arena *arena;
    Plan *plan;
    PlanBlock *block;               /* the block being lowered */
    Buffer **buffer_of;             /* [tensor id]; NULL until it has one */
    Uses *uses;                     /* [tensor id] */
    bool *lowered;                  /* [tensor id] of a result: an earlier operation computes it */
    NameMap *names, *identifiers;   /* names: of buffers, in lower case; those of a block have its
                                     * name as a prefix. identifiers: of packed weights */
} Lower;

/* Make room for one more element in an array of `count`; call it before adding each element,
 * starting with an empty array. */
void *lower_grow(Lower *w, void *array, int count, size_t size);

/* ---- buffers: plan_buffers.c ---- */
Buffer *lower_new_buffer(Lower *w, const char *name, const Tensor *t, Place place, Layout layout);
Buffer *lower_whole(Lower *w, Buffer *b);           /* register b as outliving its block */
Buffer *lower_local(Lower *w, Buffer *b);           /* register b in the block being lowered */
void lower_size_cache(Buffer *b, int64_t heads, int64_t capacity, int64_t width);
Buffer *lower_rows_buffer(Lower *w, const Tensor *t);
/* The buffer of a tensor; if it has none, a new one that suits the kind of tensor. */
Buffer *lower_buffer(Lower *w, const Tensor *t);
/* A new buffer for a tensor of one row, of which each thread computes a copy. */
Buffer *lower_copies(Lower *w, const Tensor *t);
Buffer *lower_cache(Lower *w, const Tensor *t, const Node *n);
/* lower_whole_of_views: a buffer of the block for the columns of several tensors. lower_view: make
 * `t` a view of `parent`, such a buffer, from `column` on. */
Buffer *lower_whole_of_views(Lower *w, const Tensor *all);
void lower_view(Lower *w, const Tensor *t, Buffer *parent, int64_t column);

/* ---- operations ---- */
PlanOp *lower_op(Lower *w, const Node *n, Kernel kernel, Split split, int64_t parts);
/* The buffer for the result of node `i`: that of a tensor it may overwrite, or its own. */
Buffer *lower_result(Lower *w, int i);
Packed *lower_packed(Lower *w, Format format, const Tensor *weight, const Tensor *bias);
/* Like lower_packed, in panels of the tensor's format (plan_weight_format). */
Packed *lower_panels(Lower *w, const Tensor *weight, const Tensor *bias);
Format lower_panels_of(const Lower *w, const Tensor *weight);
int64_t lower_groups(int64_t width);                /* groups of sixteen columns */
/* A tensor [heads, rows, width] as [heads * rows, width]: kernels have no third dimension. */
const Tensor *lower_as_rows(Lower *w, const Tensor *t);
/* True if nodes after number `i` of the block read `t`. */
bool lower_used_after(const Lower *w, const Tensor *t, int i);
/* lower_tapped: true if a tensor is tapped. lower_tap: tap the results of node `n`, whose first
 * operation is number `first_op`. */
bool lower_tapped(const Lower *w, const Tensor *t);
void lower_tap(Lower *w, const Node *n, int first_op);

/* The activation node directly after the linear at `i`, if it can be fused into the linear; else
 * NULL. */
const Node *lower_activation_after(const Lower *w, int i);
/* Lower the linear at `i` as one operation with nodes that can be fused with it (other linears, a
 * gate, an addition); false if nothing is fused. Weights may be packed as for fusion even then. */
bool lower_joined(Lower *w, int i);

/* Add scratch for the linears of the block that round their rows. needs: all operations of the
 * block. */
void lower_rounded(Lower *w);

void lower_start_names(Lower *w);
/* A name like `name` that is not reserved and that no other buffer of the block or of the plan has,
 * ignoring case. */
const char *lower_name(Lower *w, const char *name);
void lower_take_name(Lower *w, const char *name);
/* The end of a tensor's name as a C identifier: encoder.{}.self_attn.q -> self_q. */
const char *lower_words(Lower *w, const Tensor *t);
const char *lower_identifier(Lower *w, const Packed *k);

/* The tokenizer's tables as packed integers. */
void lower_tokenizer(Lower *w);

#endif
