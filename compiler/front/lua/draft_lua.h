/* draft_lua.h: read a Lua spec as a Draft, and print a Draft as a Lua spec. */
#ifndef DRAFT_LUA_H
#define DRAFT_LUA_H

#include "fields.h"

/* Read the Lua file `path`; NULL after errors reported to `d`. */
Draft *draft_from_lua(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);

/* Print a model's draft as a Lua spec: every field that was set and has an effect, unless it only
 * repeats its default; file names as full paths. */
void draft_print_lua(const Draft *d, const Model *m, FILE *to);

#endif
