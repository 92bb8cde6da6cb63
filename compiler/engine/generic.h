/* generic.h: what the files of the generic engine share. */
#ifndef GENERIC_H
#define GENERIC_H

#include "custom.h"
#include "custom_code.h"
#include "engine.h"
#include "generic_blas.h"

/* Weights kept in memory, for all engines that share them; the last engine to close frees them. */
typedef struct KeptWeights { Arena *arena; float ***weights; int users; } KeptWeights;

/* The `own` of a generic engine. */
typedef struct Generic {
    Arena *arena;                   /* holds the state and unshared weights; freed by close */
    KeptWeights *kept;              /* NULL: weights are not kept */
    float ***weights;               /* [tensor id][layer index], dense and row-major; NULL if not a
                                     * param, or not in memory */
    float ***anew;  int anew_count, anew_room;              /* elements of `weights` to forget */
    bool walks;                     /* inside generic_walk */
    int threads;
    Product *product;               /* OpenBLAS or plain */
    const PackedData *packed;       /* of generic_open_packed, or NULL */
    rt_team *team;                  /* for reading and plain products; NULL: the caller's thread
                                     * only */
    float *row;  int64_t row_room;  /* a row of a table that is not kept */
    rt_group *groups;               /* [engine_rows], for the current call */
    CustomCode *custom;             /* the C of xf.ops; NULL if there are none */
    float *rounded;                 /* rounded input of a linear, in quantized models; else NULL */
    EngineGuide *guide;  void *guide_user;          /* of generic_follow */
    float *sizes;                   /* [rows][width] of the last result; NULL: none yet */
    bool weighs;                    /* set by generic_weigh */
    const float *result;            /* of the last call of the decoder: [rows][stride] */
} Generic;

enum { COUNTS = COUNT_TARGET + 1 };

/* One run of a block, for one of its layers. Operations that read or write a slot run once for each
 * group. */
typedef struct GenericPass {
    const Engine *engine;
    int layer;                      /* index within the block */
    int64_t used[COUNTS];           /* size in use of each kind of dimension; CONSTANT: ignored */
    const rt_group *groups;  int group_count;       /* rows by slot */
    int slot, first_row;            /* of the current group */
} GenericPass;

typedef void GenericCompute(const GenericPass *pass, const PlanOp *op);
extern GenericCompute *const generic_computes[KERNELS];
/* Call `compute` once or, if the operation reads or writes a slot, for each group of rows. */
void generic_run(const GenericPass *pass, const PlanOp *op, GenericCompute *compute);

/* Compute one operation of a plan with TARGET_ROW_MAJOR. */
void generic_op(const GenericPass *pass, const PlanOp *op);
/* Like generic_op, but also compute own->sizes (generic_weigh); a tap receives the sizes of the
 * operation before it. */
void generic_op_weighed(const GenericPass *pass, const PlanOp *op);

/* Allocate own->weights for a plan; keep: read all weights, or share the kept weights of `beside`,
 * if it is not NULL and its plan has the same graph and formats. */
void generic_open_weights(Generic *own, const Plan *p, bool keep, const Engine *beside);
/* Free the kept weights if no other engine shares them. */
void generic_close_weights(Generic *own);
/* Give the engine its own array for a param of a layer; the caller writes the numbers. */
float *generic_own_weights(Generic *own, const Tensor *t, int layer);
/* Read a param that is not kept, for one layer, with up to eight threads. It stays in own->weights
 * until generic_forget_weights. */
const float *generic_read_weights(const Engine *e, const Tensor *t, int layer);
void generic_forget_weights(Generic *own);
/* c = a w^T or, with p->add, c += a w^T, by plain loops; each thread reads a few rows of w
 * at a time and then drops them. Does nothing and returns false if w is kept, cannot be read
 * by rows or will be read again (generic_walk), or if the engine uses OpenBLAS. */
bool generic_product_by_rows(const Engine *e, const Tensor *w, int layer, const BlasProduct *p,
                             float *c, const float *a);
/* One row of a table, kept or read now; valid until the next call. */
const float *generic_table_row(const Engine *e, const Tensor *t, int layer, int64_t row);
/* Round a matrix to its format, in place. */
void generic_round_weights(float *w, const Plan *p, const Tensor *t);

/* The address of a buffer in this pass: in the group's slot, or at the group's first row. */
static inline void *generic_address(const GenericPass *pass, const Buffer *b)
{
    const Plan *p = pass->engine->plan;
    const size_t row_bytes = b->layout == LAYOUT_INTS ? sizeof(int32_t) : (size_t)b->stride * sizeof(float);
    const size_t at = b->place == PLACE_SLOT ? (size_t)pass->slot * p->slot_bytes : (size_t)pass->first_row * row_bytes;
    return pass->engine->state + plan_address(p, b) + (size_t)pass->layer * b->layer_stride + at;
}

#endif
