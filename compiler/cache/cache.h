/* cache.h: files that are kept from one run to the next, by content: compiled models, packed
 * weights.
 *
 * An entry is a file NAME-KEY.so or NAME-KEY.packed in $XDG_CACHE_HOME/xformc, or
 * ~/.cache/xformc. KEY is a hash of all that its bytes depend on. The folder's mode is 0700, an
 * entry's 0600. The entries take at most $XFORMC_CACHE_SIZE bytes, or a tenth of what the disk
 * has free and they take, and at most 32 GB; those that were used longest ago go first. A cache
 * that cannot be read or written is none; nothing here is an error of the user's. Strings live
 * in the arena. */
#ifndef CACHE_H
#define CACHE_H

#include <stdint.h>

#include "file.h"

typedef enum CacheKind { CACHE_LIBRARY, CACHE_PACKED, CACHE_KINDS } CacheKind;

/* Where entries are, whether the folder exists or not; NULL with XFORMC_CACHE=off, after
 * cache_off, and where there is no home. */
const char *cache_folder(Arena *a);
void cache_off(void);
/* The path of an entry; NULL where there is no cache. */
const char *cache_path(Arena *a, const char *name, uint64_t key, CacheKind kind);

/* Whether an entry lies there that only this user may write, in such a folder. Where another
 * may, a remark to `d`, if that is not NULL. */
bool cache_has(Arena *a, Diag *d, const char *path);
/* An entry was used now. */
void cache_used(const char *path);

/* Begin to write an entry of so many bytes, for which those that were used longest ago make
 * room. NULL where nothing can be kept there, or not so much. */
FileWriter *cache_create(Arena *a, const char *path, int64_t bytes);
/* Commit it, and keep to the bound. */
bool cache_commit(Arena *a, FileWriter *w);

/* One process at a time: wait for the others that hold the lock of an entry. -1 where there is
 * none to be had; give it back. */
int  cache_lock(Arena *a, const char *path);
void cache_unlock(Arena *a, const char *path, int lock);

/* What all entries may take. False, and the usual bound, where XFORMC_CACHE_SIZE is not a number
 * of bytes such as 2G. */
bool cache_most(Arena *a, int64_t *bytes);

/* The entries, the last used first; *n receives their number, and *error why not all of them can
 * be read, an errno, or 0; a folder that is not there has none. used: seconds since 1970. */
typedef struct CacheEntry {
    const char *name, *path;
    CacheKind kind;
    int64_t bytes, used;
} CacheEntry;
CacheEntry *cache_list(Arena *a, int *n, int *error);
/* Remove every entry, and what processes that were killed left there. False after an error. */
bool cache_clear(Arena *a, Diag *d);

#endif
