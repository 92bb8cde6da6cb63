/* library_cache.h: shared libraries of compiled models that are kept from one run to the next, by content.
 *
 * An entry is a file NAME-KEY.so in $XDG_CACHE_HOME/xformc, or ~/.cache/xformc. KEY is a hash of all that the library depends on:
 * emitted text, runtime, flags, the compiler's path and --version, the variables that it heeds, this machine's instruction sets.
 * Behind the library stands a line with a hash of it, so that an entry which is cut short or changed is not used. A cache that
 * cannot be read or written is none; nothing here is an error of the user's. The folder's mode is 0700,
 * an entry's 0600. Strings live in the arena. */
#ifndef LIBRARY_CACHE_H
#define LIBRARY_CACHE_H

#include <stdint.h>

#include "folder.h"

/* Where entries are, whether the folder exists or not; NULL with XFORMC_CACHE=off and where there is no home. */
const char *library_cache_folder(Arena *a);

/* The path of the entry for what the compiler `cc` on the PATH makes of a plan's text in one instruction set. NULL where there is
 * no cache or no compiler, or form.isa is a list. */
const char *library_cache_path(Arena *a, const Plan *p, EmitForm form, const FolderText *text);
/* Whether a whole entry lies there that only this user may write, in such a folder; where another may, a
 * remark. One that is damaged is removed. */
bool library_cache_has(Arena *a, Diag *d, const char *path);
/* Keep a library under that path, and remove the entries longest unused until all fit into 256 MiB. */
void library_cache_add(Arena *a, const char *path, const char *library);

/* The entries, the last used first; *n receives their number, and *error why not all of them can be read, an errno, or 0; a folder that
 * is not there has none. */
typedef struct CacheEntry { const char *name, *path; int64_t bytes, used; } CacheEntry;     /* used: seconds since 1970 */
CacheEntry *library_cache_list(Arena *a, int *n, int *error);

#endif
