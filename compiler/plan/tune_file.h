/* tune_file.h: read a file that `xformc tune` wrote: a Lua file that returns xf.tune{…}, run in the
 * sandbox of specs. */
#ifndef TUNE_FILE_H
#define TUNE_FILE_H

#include "tuning.h"

/* Read the file at `path` into the arena; NULL after errors, reported at their lines. */
Tuning *tuning_from_lua(Arena *a, Diag *d, const char *path);

#endif
