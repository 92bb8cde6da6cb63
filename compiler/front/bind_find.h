/* bind_find.h: find tensors in the weights file; shared by bind*.c except bind_vocabulary.c. */
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
    const Family *family;           /* whose names the file uses; NULL: xformc's own */
    Loc at;                         /* the field `weights`, else draft->at; none with --from */
    bool *used;                     /* [weight_file->count] */
    bool *of_matmul;                /* for each value of a graph: a matmul reads it as weights */
    int differing;                  /* number of tensors with an unexpected shape */
    int room;
    TensorSource *missing;          /* tensors that the file lacks; reported at the end */
    int missing_count, missing_room;
} Finder;

enum { FINDER_MOST_TOLD = 3 };             /* the most errors reported per kind of fault */

static inline bool finder_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* Find a tensor by a pattern of names, where (a|b) means a or b; NULL if the file has none of
 * them. */
const TensorSource *finder_spelling(Finder *f, const char *pattern);
const char *finder_first_spelling(Arena *a, const char *pattern);
/* Find a tensor by its canonical name, with the family's table, or else a matrix that it may be
 * tied to; NULL if the file has neither, or several such matrices that differ. */
const TensorSource *finder_tied(Finder *f, const char *name);
/* Decide whether the output layer, or the head of a masked language model, is tied to the
 * embedding; sets tied and head_own. Call this before tensors are added. */
void finder_settle_tying(Finder *f);
/* Call these after tensors are added. finder_mark_copies: mark copies of embeddings and of the
 * output layer as used if they have the same bytes as a used tensor. finder_refuse_left_out: report
 * tensors of the file that the model lacks because of a key of config.json, or of a field of the
 * spec. */
void finder_mark_copies(Finder *f);
void finder_refuse_left_out(Finder *f);
/* row-major; columns 0: a vector */
void finder_shape(TensorSource *t, int64_t rows, int64_t columns);
void finder_take(Finder *f, TensorSource *t, const TensorSource *found);    /* bind t to found */
void finder_random(const Finder *f, TensorSource *t, Role role, int64_t fan_in);    /* without a file */
void finder_missing(Finder *f, const TensorSource *t, const char *spelling);    /* record it */
TensorSource *finder_append(Finder *f, TensorSource t);
/* Add a tensor of the model, found in the file or random. columns 0: a vector. fan_in: the inputs
 * of the tensor's linear; only random numbers depend on it. */
void finder_add(Finder *f, Role role, const char *name, const char *spellings, int64_t rows, int64_t columns, int64_t fan_in);

/* Add all tensors of a Transformer, in order of use. */
void finder_add_transformer(Finder *f);
/* For a graph: mark the values that are weights of a matmul. Call this before params are added. */
void finder_mark_matmuls(Finder *f);
void finder_add_param(Finder *f, const GraphCall *call);

#endif
