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
    NameMap *names, *identifiers;   /* of buffers, lower case, a block's with its name before them; of packed weights */
} Lower;

Buffer *lower_whole(Lower *w, Buffer *b);           /* b outlives its block */
Buffer *lower_buffer(Lower *w, const Tensor *t);
PlanOp *lower_op(Lower *w, const Node *n, Kernel kernel, Split split, int64_t parts);
Packed *lower_packed(Lower *w, Format format, const Tensor *weight, const Tensor *bias);

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
