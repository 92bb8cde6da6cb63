/* library_cache.h: shared libraries of compiled models, kept between runs; see cache.h.
 *
 * The key of an entry is a hash of all that the library depends on: emitted text, runtime, flags,
 * the compiler's path and --version, the environment variables that affect the build, and the
 * processor. In an entry, a line with the library's hash follows the library, so a truncated or
 * altered entry is not used. */
#ifndef LIBRARY_CACHE_H
#define LIBRARY_CACHE_H

#include "folder.h"

/* The path in the cache of the library that `cc` on the PATH builds from a plan's text for one
 * instruction set. NULL if there is no cache, if there is no `cc` or it does not print its version,
 * or if form.isa lists several sets. */
const char *library_cache_path(Arena *a, const Plan *p, EmitForm form, const FolderText *text);
/* True if an intact entry exists, and only this user can write it and its folder. If others can, a
 * remark says so. A damaged entry is removed. */
bool library_cache_has(Arena *a, Diag *d, const char *path);
/* True if the library in the entry matches the hash that follows it. */
bool library_cache_whole(const char *path);
/* Copy a library to that path of the cache; does nothing if the path is NULL. */
void library_cache_add(Arena *a, const char *path, const char *library);

#endif
