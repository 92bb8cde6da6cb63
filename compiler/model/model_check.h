/* model_check.h: a Draft to a Model, pass by pass; front/read.c finds tokenizers and weights between them. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "fields.h"

typedef struct ModelCheck { Arena *arena; Diag *diag; const Draft *draft; Model *model; int errors; } ModelCheck;    /* errors: reported before */

/* The fields of the whole model, and its name. */
ModelCheck model_check_begin(Arena *a, Diag *d, const Draft *draft);
/* Whether nothing was wrong so far. */
bool model_check_is_good(const ModelCheck *c);
/* Not of an xf.graph: its stacks, then which tokenizer it has, then, when its vocabularies are known, all else. */
void model_check_sizes(const ModelCheck *c);
void model_check_tokenizer(const ModelCheck *c);
void model_check_rest(const ModelCheck *c);

#endif
