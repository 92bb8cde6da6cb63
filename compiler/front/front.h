/* front.h: read a spec of any format, make a Model of it and find its tensors. */
#ifndef FRONT_H
#define FRONT_H

#include "fields.h"

/* Read and check a spec, which is a Lua file, a Hugging Face folder, a GGUF file or a llama2.c
 * checkpoint, and find its weights; NULL after errors reported to `d`. */
Model *model_read(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);
void model_close(Model *m);         /* unmap its files */

/* Read the spec at `path`; the content decides the format. NULL after errors reported to `d`. */
Draft *draft_read(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);
/* Options that override a spec. NULL and 0: none. */
typedef struct DraftChanges {
    const char *path;                   /* of the spec, for messages */
    const char *from, *tokenizer;       /* paths of weights and of a tokenizer */
    bool sizes_only;                    /* the spec's weights file need not exist */
    int max_len;
    const char *name;                   /* of the emitted model */
} DraftChanges;
/* Apply the options, and remark if the context is shorter than the trained length and no option
 * asked for that. False after an error. */
bool draft_change(Arena *a, Diag *d, Draft *draft, DraftChanges changes);
/* Return the draft with these words for dtype and kv_dtype, a copy if a word is given; NULL leaves
 * a field unchanged. A word for dtype also drops the patterns of dtype. */
const Draft *draft_with_dtypes(Arena *a, const Draft *draft, const char *dtype, const char *kv_dtype);

/* Read the model's weights once, and remark on infinities and NaN in the dtypes that
 * weights_tell_strange checks. gives: weights_finite. */
void model_look_at_weights(Diag *d, Model *m);

/* Make a Model: set defaults, check, find the weights. NULL after errors. */
Model *model_from_draft(Arena *a, Diag *d, const Draft *draft);

/* The passes of model_from_draft that read files. needs: the fields of `m`. */
/* gives: weight_file, if there is a file; false after errors */
bool model_open_weights(Arena *a, Diag *d, const Draft *draft, Model *m);
/* gives: source, target, their paths and sizes, start_id, end_id */
void model_read_vocabularies(Arena *a, Diag *d, const Draft *draft, Model *m);
/* gives: the members from tokenizer_data to tokenizer_chat; sizes */
void model_read_tokenizer(Arena *a, Diag *d, const Draft *draft, Model *m);
/* gives: weight_file, weights_used, weights_at, weights_missing, random_weights, tied, head_own,
 * tensors, tensor_of */
void model_find_tensors(Arena *a, Diag *d, const Draft *draft, Model *m);

#endif
