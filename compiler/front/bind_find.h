/* bind_find.h: what the files that find tensors share: bind.c, bind_model.c, bind_tied.c,
 * bind_graph.c. */
#ifndef BIND_FIND_H
#define BIND_FIND_H

#include <string.h>

#include "family.h"
#include "fields.h"
#include "weights.h"

typedef enum Role { ROLE_WEIGHT, ROLE_BIAS, ROLE_GAIN, ROLE_NORM_BIAS } Role;

typedef struct Finder {
    Arena *arena;
    Diag *diag;
    const Draft *draft;
    Model *model;
    const Family *family;           /* whose names the file has; NULL for those in this file */
    Loc at;                         /* the field `weights`, or the call */
    bool *used;                     /* [weight_file->count] */
    bool *of_matmul;                /* of a graph's values: a matmul reads it as its weights */
    int differing;                  /* tensors of another shape than was expected */
    int room;
    TensorSource *missing;          /* those without a tensor in the file, reported when all names are known */
    int missing_count, missing_room;
} Finder;

enum { FINDER_MOST_TOLD = 3 };             /* of tensors with the same fault */

static inline bool finder_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* A spelling is a pattern: (a|b) stands for one or the other; NULL where the file has none of them. */
const TensorSource *finder_spelling(Finder *f, const char *pattern);
const char *finder_first_spelling(Arena *a, const char *pattern);
/* By the rows of the family: what the file has for a canonical name or for a matrix that is tied to
 * it, NULL where it has nothing. */
const TensorSource *finder_tied(Finder *f, const char *name);
/* Before tensors are added: whether the output layer is the embedding. */
void finder_settle_tying(Finder *f);
/* When they are added: the same bytes under another name are used too; what a key of config.json
 * leaves out is an error. */
void finder_mark_copies(Finder *f);
void finder_refuse_left_out(Finder *f);
void finder_shape(TensorSource *t, int64_t rows, int64_t columns);     /* row-major; columns 0: a vector */
void finder_take(Finder *f, TensorSource *t, const TensorSource *found);               /* all of what the file has */
void finder_random(const Finder *f, TensorSource *t, Role role, int64_t fan_in);       /* numbers from the seed */
void finder_missing(Finder *f, const TensorSource *t, const char *spelling);           /* to be reported at the end */
TensorSource *finder_append(Finder *f, TensorSource t);
/* A tensor of the model, found or made. columns 0: a vector. fan_in: inputs of the linear that it belongs to. */
void finder_add(Finder *f, Role role, const char *name, const char *spellings, int64_t rows, int64_t columns, int64_t fan_in);

/* All tensors of a Transformer, in order of use. */
void finder_add_transformer(Finder *f);
/* Of a graph: which values are the weights of a matmul, to be known before its params are added. */
void finder_mark_matmuls(Finder *f);
void finder_add_param(Finder *f, const GraphCall *call);

#endif
