/* front.h: from a spec, whoever wrote it, to a Model whose tensors are found. */
#ifndef FRONT_H
#define FRONT_H

#include "fields.h"

/* Read, check and find the weights of a spec: a Lua file, a Hugging Face folder, a GGUF file or a llama2.c
 * checkpoint; NULL after errors reported to `d`. */
Model *model_read(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);
void model_close(Model *m);         /* unmap its files */

/* What the spec at `path` says, by what is found there; NULL after errors reported to `d`. */
Draft *draft_read(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);
/* What is asked of a spec at `path` in the place of what it says. NULL and 0: nothing. */
typedef struct DraftChanges {
    const char *path;
    const char *from, *tokenizer;       /* paths of weights and of a tokenizer */
    bool sizes_only;                    /* the spec's file of weights need not be there */
    int max_len;
    const char *name;                   /* of the emitted model */
} DraftChanges;
/* Change it so, and remark where it takes less than it was trained for. False after an error. */
bool draft_change(Arena *a, Diag *d, Draft *draft, DraftChanges changes);
/* The same draft with other words of dtype and kv_dtype; NULL leaves them. */
const Draft *draft_with_dtypes(Arena *a, const Draft *draft, const char *dtype, const char *kv_dtype);

/* Read the weights of a file once, and remark what is not finite among them. */
void model_look_at_weights(Diag *d, Model *m);

/* Work out, check, find the weights; NULL after errors. */
Model *model_from_draft(Arena *a, Diag *d, const Draft *draft);

/* The passes of model_from_draft. needs: the fields of `m`. */
bool model_open_weights(Arena *a, Diag *d, const Draft *draft, Model *m);         /* gives: weight_file; false after errors */
void model_read_vocabularies(Arena *a, Diag *d, const Draft *draft, Model *m);    /* gives: source, target, sizes */
void model_read_tokenizer(Arena *a, Diag *d, const Draft *draft, Model *m);       /* gives: tokenizer_data, sizes */
void model_find_tensors(Arena *a, Diag *d, const Draft *draft, Model *m);         /* gives: weight_file, tensors */

#endif
