/* tuned.h: the choices of speed of a file of `xformc tune`. */
#ifndef TUNED_H
#define TUNED_H

#include "emit.h"

/* Take from the file at `path` what *form and *threads (0) leave open. A file of another model or dtype is remarked on and
 * not used, one of another machine or form is remarked on. False after errors reported at its lines. */
bool tuned_take(Arena *a, Diag *d, const char *path, const Plan *p, EmitForm *form, int *threads);

#endif
