/* generic.h: what the files of the generic engine share. */
#ifndef GENERIC_H
#define GENERIC_H

#include "custom.h"
#include "custom_code.h"
#include "engine.h"
#include "generic_blas.h"

/* What the engine keeps besides its state. */
typedef struct Generic {
    Arena *arena;                   /* its own: weights and state, freed by close */
    float ***weights;               /* [tensor id][layer index], dense and row-major; NULL where it is not a param, or not read */
    float ***anew;  int anew_count, anew_room;              /* of `weights`: those that are not kept */
    bool keeps, walks;              /* all weights are kept; a layer runs for many rows */
    int threads;
    Product *product;               /* by OpenBLAS, or plain */
    const PackedData *packed;       /* of generic_open_packed, or NULL */
    rt_team *team;                  /* of plain products by rows; NULL: the caller alone */
    float *row;  int64_t row_room;  /* of a table that is not kept */
    rt_group *groups;               /* [engine_rows], of the call that runs */
    CustomCode *custom;             /* the C of xf.ops; NULL where there is none */
    float *rounded;                 /* rows that a linear of a quantised model reads, rounded; else NULL */
    EngineGuide *guide;  void *guide_user;          /* of generic_follow */
    float *sizes;                   /* [rows][width] of the last result; NULL until asked for */
    bool weighs;                    /* as generic_weigh said */
    const float *result;            /* what the last step, next or rows left: [rows][stride] */
} Generic;

enum { COUNTS = COUNT_TARGET + 1 };

/* One pass over a block, for one of its layers. Operations that read or write a slot run once
 * for each group of rows. */
typedef struct GenericPass {
    const Engine *engine;
    int layer;                      /* index within the block */
    int64_t used[COUNTS];           /* places in use of each kind of dimension; CONSTANT: not read */
    const rt_group *groups;  int group_count;       /* rows by slot */
    int slot, first_row;            /* of the group that runs */
} GenericPass;

typedef void GenericCompute(const GenericPass *pass, const PlanOp *op);
extern GenericCompute *const generic_computes[KERNELS];
/* Call `compute` once, or for each group of rows where the operation reads or writes a slot. */
void generic_run(const GenericPass *pass, const PlanOp *op, GenericCompute *compute);

/* Compute one operation of a plan with TARGET_ROW_MAJOR. */
void generic_op(const GenericPass *pass, const PlanOp *op);
/* The same, and keep in own->sizes what went into each number; a tap receives the sizes of the
 * operation before it. */
void generic_op_weighed(const GenericPass *pass, const PlanOp *op);

/* Room for the weights of a plan; keep: read them all. */
void generic_open_weights(Generic *own, const Plan *p, bool keep);
/* A param of a layer, in the arena of the engine. */
float *generic_kept_weights(Generic *own, const Plan *p, const Tensor *t, int layer);
/* A param of a layer that is not kept, read by up to eight threads: in own->weights until
 * generic_forget_weights. */
const float *generic_read_weights(const Engine *e, const Tensor *t, int layer);
void generic_forget_weights(Generic *own);
/* c = a w^T, by plain loops, some rows of w at a time, read by several threads and then
 * forgotten. False where w is kept or will be read again, is not made of rows, or products are
 * those of a library: nothing is done then. */
bool generic_product_by_rows(const Engine *e, const Tensor *w, int layer, const BlasProduct *p,
                             float *c, const float *a);
/* One row of a table, kept or read for this call, until the next. */
const float *generic_table_row(const Engine *e, const Tensor *t, int layer, int64_t row);
/* A matrix as its format leaves it. */
void generic_round_weights(float *w, const Plan *p, const Tensor *t);

/* Where a buffer begins for this pass: that of the group's slot, or its first row. */
static inline void *generic_address(const GenericPass *pass, const Buffer *b)
{
    const Plan *p = pass->engine->plan;
    const size_t row_bytes = b->layout == LAYOUT_INTS ? sizeof(int32_t) : (size_t)b->stride * sizeof(float);
    const size_t at = b->place == PLACE_SLOT ? (size_t)pass->slot * p->slot_bytes : (size_t)pass->first_row * row_bytes;
    return pass->engine->state + plan_address(p, b) + (size_t)pass->layer * b->layer_stride + at;
}

#endif
