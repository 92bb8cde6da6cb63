/* generic.h: what the files of the generic engine share. */
#ifndef GENERIC_H
#define GENERIC_H

#include "engine.h"
#include "generic_blas.h"

/* What the engine keeps besides its state. */
typedef struct Generic {
    Arena *arena;                   /* its own: weights and state, freed by close */
    float ***weights;               /* [tensor id][layer index], dense and row-major; NULL where it is no param */
    int lanes;
    Product *product;               /* by OpenBLAS, or plain */
    const float *result;            /* what the last step or next left: [target_vocab] */
} Generic;

enum { COUNTS = COUNT_TARGET + 1 };

/* One pass over a block, for one of its layers. */
typedef struct GenericPass {
    const Engine *engine;
    int layer;                      /* index within the block */
    int64_t used[COUNTS];           /* places in use of each kind of dimension; CONSTANT: not read */
} GenericPass;

/* Compute one operation of a plan with target ROW_MAJOR. */
void generic_op(const GenericPass *pass, const PlanOp *op);

static inline void *generic_address(const GenericPass *pass, const Buffer *b)
{
    return pass->engine->state + plan_address(pass->engine->plan, b) + (size_t)pass->layer * b->layer_stride;
}

#endif
