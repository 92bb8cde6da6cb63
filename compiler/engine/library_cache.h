/* library_cache.h: shared libraries of compiled models that are kept from one run to the next:
 * cache.h.
 *
 * The key of an entry is a hash of all that the library depends on: emitted text, runtime,
 * flags, the compiler's path and --version, the variables that it heeds, this machine's
 * instruction sets. Behind the library stands a line with a hash of it, so that an entry which
 * is cut short or changed is not used. */
#ifndef LIBRARY_CACHE_H
#define LIBRARY_CACHE_H

#include "folder.h"

/* The path of the entry for what the compiler `cc` on the PATH makes of a plan's text in one
 * instruction set. NULL where there is no cache or no compiler, or form.isa is a list. */
const char *library_cache_path(Arena *a, const Plan *p, EmitForm form, const FolderText *text);
/* Whether a whole entry lies there that only this user may write, in such a folder; where
 * another may, a remark. One that is damaged is removed. */
bool library_cache_has(Arena *a, Diag *d, const char *path);
/* Whether what lies there has the hash that stands behind it. */
bool library_cache_whole(const char *path);
/* Keep a library under that path. */
void library_cache_add(Arena *a, const char *path, const char *library);

#endif
