/* draft_lua.h: a spec in Lua as a Draft, and a Draft as a spec in Lua. */
#ifndef DRAFT_LUA_H
#define DRAFT_LUA_H

#include "fields.h"

/* What the Lua file `path` says; NULL after errors reported to `d`. */
Draft *draft_from_lua(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);

/* The draft of a model as a spec in Lua: every field that was set, is not its default and says something of it; files with their whole path. */
void draft_print_lua(const Draft *d, const Model *m, FILE *to);

#endif
