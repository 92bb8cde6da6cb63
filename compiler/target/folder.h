/* folder.h: a model's folder on disk: emitted text, runtime, packed weights; and what make makes of it. */
#ifndef FOLDER_H
#define FOLDER_H

#include "emit.h"
#include "pack.h"

/* Write everything into `folder`, which is made if need be; each file is complete or not there. */
bool folder_write(Arena *a, Diag *d, const Plan *p, WeightsForm weights, const char *folder);

/* Run make in a folder. cc: NULL for the folder's own choice; isa: a name of isa_flags. On failure what the compiler
 * said is shown, then one line of ours. */
bool folder_make(Arena *a, Diag *d, const char *folder, const char *target, const char *cc, const char *isa);

/* Compiler flags for an instruction set by name ("native", "portable", "avx512"), or NULL; names for messages. */
const char *isa_flags(const char *name);
const char *const *isa_names(int *n);

#endif
