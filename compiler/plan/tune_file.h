/* tune_file.h: a file of `xformc tune`, a Lua file that returns xf.tune{…}, read in the sandbox of specs. */
#ifndef TUNE_FILE_H
#define TUNE_FILE_H

#include "tuning.h"

/* What the file at `path` says, in the arena; NULL after reported errors, each at its line. */
Tuning *tuning_from_lua(Arena *a, Diag *d, const char *path);

#endif
