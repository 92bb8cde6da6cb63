/* plan_lower.h: what the files of the lowering pass share. */
#ifndef PLAN_LOWER_H
#define PLAN_LOWER_H

#include "plan.h"

typedef struct Lower {
    Arena *arena;
    Plan *plan;
    PlanBlock *block;               /* being lowered */
    Buffer **buffer_of;             /* [tensor id]; NULL until it has one */
} Lower;

Buffer *lower_whole(Lower *w, Buffer *b);           /* b outlives its block */
Buffer *lower_buffer(Lower *w, const Tensor *t);
PlanOp *lower_op(Lower *w, const Node *n, Kernel kernel, Split split, int64_t parts);
Packed *lower_packed(Lower *w, Format format, const Tensor *weight, const Tensor *bias);
/* The tokenizer's tables as packed integers. */
void lower_tokenizer(Lower *w);

#endif
