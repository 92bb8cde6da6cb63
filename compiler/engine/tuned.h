/* tuned.h: apply a file of `xformc tune`. */
#ifndef TUNED_H
#define TUNED_H

#include "emit.h"

/* Set from the file at `path` what *form and *threads (0) leave open. A file of another model or
 * dtype is not used, with a remark; one of another machine or form is used, with a remark. False
 * after errors reported at its lines. */
bool tuned_take(Arena *a, Diag *d, const char *path, const Plan *p, EmitForm *form, int *threads);

#endif
