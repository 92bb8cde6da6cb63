/* tuned.h: apply a file that `xformc tune` wrote. */
#ifndef TUNED_H
#define TUNED_H

#include "emit.h"

/* Take from the file at `path` what *form and *threads leave open; 0 threads: open. A file for
 * another model or dtype is ignored, with a remark; one for another machine or build is used, also
 * with a remark. False after reported errors. */
bool tuned_take(Arena *a, Diag *d, const char *path, const Plan *p, EmitForm *form, int *threads);

#endif
