/* cache.h: a cache of files kept between runs: compiled models and packed weights.
 *
 * An entry is a file NAME-KEY.so or NAME-KEY.packed in $XDG_CACHE_HOME/xformc, or
 * ~/.cache/xformc. KEY is a hash of everything that the file depends on. The folder's mode is
 * 0700, an entry's 0600. The size of all entries is at most XFORMC_CACHE_SIZE; by default a
 * tenth of the disk space that is free or taken by them, at most 32 GB. The least recently used
 * entries are removed first. A cache that cannot be read or written is treated as absent,
 * without an error. Strings live in the arena. */
#ifndef CACHE_H
#define CACHE_H

#include <stdint.h>

#include "file.h"

typedef enum CacheKind { CACHE_LIBRARY, CACHE_PACKED, CACHE_KINDS } CacheKind;

/* The cache folder, which need not exist; NULL with XFORMC_CACHE=off, after cache_off, or if
 * neither XDG_CACHE_HOME nor HOME is an absolute path. */
const char *cache_folder(Arena *a);
void cache_off(void);
/* The path of an entry; NULL without a cache. */
const char *cache_path(Arena *a, const char *name, uint64_t key, CacheKind kind);

/* True if the entry exists and only this user can write it and its folder. If others can, a remark
 * goes to `d`, unless `d` is NULL; a remark on the folder, only once in a process. */
bool cache_has(Arena *a, Diag *d, const char *path);
/* Mark an entry as used now. */
void cache_used(const char *path);

/* Begin to write an entry of `bytes` bytes; the least recently used entries are removed to make
 * room. NULL if the entry cannot be written or does not fit. */
FileWriter *cache_create(Arena *a, const char *path, int64_t bytes);
/* Commit the entry, then remove old entries if the size limit is exceeded; false after an error. */
bool cache_commit(Arena *a, FileWriter *w);

/* Take the lock of an entry, waiting for other processes that hold it; -1 if its file cannot be
 * created or opened. On a file system without flock the file is created but locks nothing, so two
 * processes may both write the entry. cache_unlock releases the lock; it accepts -1. */
int  cache_lock(Arena *a, const char *path);
void cache_unlock(Arena *a, const char *path, int lock);

/* The size limit of the whole cache, in bytes. XFORMC_CACHE_SIZE is ignored unless it is a number
 * of bytes such as 262144 or 2G. */
int64_t cache_most(Arena *a);
/* Remark, once in a process, on values of XFORMC_CACHE and XFORMC_CACHE_SIZE that are ignored. */
void cache_remark_on_settings(Arena *a, Diag *d);

/* The entries, most recently used first; *n receives their number. *error receives the errno if not
 * all of them can be listed, else 0; a missing folder is empty. used: seconds since 1970. */
typedef struct CacheEntry {
    const char *name, *path;
    CacheKind kind;
    int64_t bytes, used;
} CacheEntry;
CacheEntry *cache_list(Arena *a, int *n, int *error);
/* Remove every entry, and files left by killed processes. False after an error. */
bool cache_clear(Arena *a, Diag *d);

#endif
