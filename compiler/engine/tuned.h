/* tuned.h: apply a file that `xformc tune` wrote. */
#ifndef TUNED_H
#define TUNED_H

#include "emit.h"

/* Take from the file at `path` whatever *form and *threads (0) leave open. A file for another model
 * or dtype is ignored, with a remark; one for another machine or form is used, also with a remark.
 * False after errors reported at its lines. */
bool tuned_take(Arena *a, Diag *d, const char *path, const Plan *p, EmitForm *form, int *threads);

#endif
