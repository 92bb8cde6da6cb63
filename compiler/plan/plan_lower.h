/* plan_lower.h: what the files of the lowering pass share. */
#ifndef PLAN_LOWER_H
#define PLAN_LOWER_H

#include "plan.h"

/* Of a tensor in the block being lowered: how many inputs of nodes it is, and the last such node. */
typedef struct Uses { int count, last; } Uses;

typedef struct Lower {
    Arena *arena;
    Plan *plan;
    PlanBlock *block;               /* being lowered */
    Buffer **buffer_of;             /* [tensor id]; NULL until it has one */
    Uses *uses;                     /* [tensor id] */
    bool *lowered;                  /* [tensor id] of a node's result: an operation before it has made it */
    NameMap *names, *identifiers;   /* of buffers, lower case, a block's with its name before them; of packed weights */
} Lower;

/* Room for one more in an array of `count` that began empty. */
void *lower_grow(Lower *w, void *array, int count, size_t size);

/* ---- buffers: plan_buffers.c ---- */
Buffer *lower_new_buffer(Lower *w, const char *name, const Tensor *t, Place place, Layout layout);
Buffer *lower_whole(Lower *w, Buffer *b);           /* b outlives its block */
Buffer *lower_local(Lower *w, Buffer *b);           /* b is of the block being lowered */
void lower_size_cache(Buffer *b, int64_t heads, int64_t capacity, int64_t width);
Buffer *lower_rows_buffer(Lower *w, const Tensor *t);
/* Where a tensor lies: its buffer if it has one, else a new one by its kind. */
Buffer *lower_buffer(Lower *w, const Tensor *t);
Buffer *lower_cache(Lower *w, const Tensor *t, const Node *n);
/* A buffer of the block for the columns of several tensors, and the view of it that holds `t`, from `column` on. */
Buffer *lower_whole_of_views(Lower *w, const Tensor *all);
void lower_view(Lower *w, const Tensor *t, Buffer *parent, int64_t column);

/* ---- operations ---- */
PlanOp *lower_op(Lower *w, const Node *n, Kernel kernel, Split split, int64_t parts);
/* The buffer for the result of node `i`: that of an input it may overwrite, or a new one. */
Buffer *lower_result(Lower *w, int i);
Packed *lower_packed(Lower *w, Format format, const Tensor *weight, const Tensor *bias);
/* The same in panels, of the model's dtype where that is for them. */
Packed *lower_panels(Lower *w, const Tensor *weight, const Tensor *bias);
Format lower_panels_of(const Lower *w, const Tensor *weight);
int64_t lower_groups(int64_t width);                /* of sixteen columns */
/* Rows of heads, [heads, rows, width], as rows: kernels and shares know no third dimension. */
const Tensor *lower_as_rows(Lower *w, const Tensor *t);
/* Whether nodes after number `i` of the block read `t`. */
bool lower_used_after(const Lower *w, const Tensor *t, int i);
/* Whether a tensor is to be kept for looking at; if so what node `n` left, its first operation being number `first_op`, is. */
bool lower_tapped(const Lower *w, const Tensor *t);
void lower_tap(Lower *w, const Node *n, int first_op);

/* The activation node right behind the linear at `i` that can be fused into it, or NULL. */
const Node *lower_activation_after(const Lower *w, int i);
/* The linear at `i` with others of its block as one operation; false where it stands alone. */
bool lower_joined(Lower *w, int i);

/* Scratch for the linears of the block that round their rows, once all its operations are there. */
void lower_rounded(Lower *w);

void lower_start_names(Lower *w);
/* A name that no other buffer has, in whatever case: macros are made from it. */
const char *lower_name(Lower *w, const char *name);
void lower_take_name(Lower *w, const char *name);
/* The last words of a tensor's name, as a C identifier: encoder.{}.self_attn.q -> self_q. */
const char *lower_words(Lower *w, const Tensor *t);
const char *lower_identifier(Lower *w, const Packed *k);

/* The tokenizer's tables as packed integers. */
void lower_tokenizer(Lower *w);

#endif
