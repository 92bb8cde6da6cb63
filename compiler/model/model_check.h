/* model_check.h: make a Model of a Draft, pass by pass; between the passes, front/read.c opens the
 * weights and reads the vocabularies or the tokenizer. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "fields.h"

/* errors: the number of errors reported before model_check_begin. */
typedef struct ModelCheck { Arena *arena; Diag *diag; const Draft *draft; Model *model; int errors; } ModelCheck;

/* Set the fields of the whole model, and check its name. */
ModelCheck model_check_begin(Arena *a, Diag *d, const Draft *draft);
/* True if no error was reported since model_check_begin was called. */
bool model_check_is_good(const ModelCheck *c);
/* Not for an xf.graph: check the stacks; then which tokenizer there is; then, once vocabularies are
 * known, the rest. */
void model_check_sizes(const ModelCheck *c);
void model_check_tokenizer(const ModelCheck *c);
void model_check_rest(const ModelCheck *c);

#endif
