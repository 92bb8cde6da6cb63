/* cache.c: the cache folder: its owner, its entries, their locks, its size. */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cleanup.h"
#include "progress.h"
#include "text.h"

static const char *const endings[CACHE_KINDS] = {
    [CACHE_LIBRARY] = ".so", [CACHE_PACKED] = ".packed",
};

static bool is_off;

void cache_off(void) { is_off = true; }

const char *cache_folder(Arena *a)
{
    const char *choice = getenv("XFORMC_CACHE");
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (is_off || (choice && strcmp(choice, "off") == 0)) return NULL;
    /* As the XDG specification requires, a relative path is ignored. */
    if (cache && *cache == '/') return file_join(a, cache, "xformc");
    return home && *home == '/' ? file_join(a, home, ".cache/xformc") : NULL;
}

const char *cache_path(Arena *a, const char *name, uint64_t key, CacheKind kind)
{
    const char *folder = cache_folder(a);
    if (!folder) return NULL;
    return file_join(a, folder, arena_format(a, "%s-%016" PRIx64 "%s", name, key, endings[kind]));
}

/* ---- whose it is ----------------------------------------------------------------------------- */

/* Why other users may have written a file or folder, or NULL. Whoever can write a library that is
 * loaded runs code as this user; whoever can write weights controls the model's answers. */
static const char *who_else_writes(const struct stat *info)
{
    if (info->st_uid != geteuid()) return "belongs to another user";
    return info->st_mode & (S_IWGRP | S_IWOTH) ? "is writable by other users" : NULL;
}

/* Why the cache folder must not be used, or NULL. A missing one is created later. */
static const char *folder_fault(const char *folder)
{
    struct stat info;
    return stat(folder, &info) == 0 ? who_else_writes(&info) : NULL;
}

bool cache_has(Arena *a, Diag *d, const char *path)
{
    static bool told;                   /* the folder was reported */
    struct stat info;
    const char *folder = file_folder(a, path), *fault = folder_fault(folder);
    if (d && fault && !told)
        diag_remark(d, (Loc){ 0 }, "%s %s, so it is not used as the cache", folder, fault);
    told = told || (d && fault);
    if (fault || lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    fault = who_else_writes(&info);
    if (d && fault) diag_remark(d, (Loc){ 0 }, "%s %s, so it is ignored and rebuilt", path, fault);
    return !fault;
}

void cache_used(const char *path) { utimensat(AT_FDCWD, path, NULL, 0); }

/* Create the folder, for this user only; false if that fails, or it must not be used. */
static bool make_folder(Arena *a, const char *folder)
{
    if (!file_make_folder(diag_new(a), file_folder(a, folder))) return false;
    if (mkdir(folder, 0700) != 0 && (errno != EEXIST || folder_fault(folder))) return false;
    return chmod(folder, 0700) == 0;
}

/* ---- how much -------------------------------------------------------------------------------- */

static int64_t held(Arena *a)
{
    int n, error;
    int64_t bytes = 0;
    const CacheEntry *e = cache_list(a, &n, &error);
    for (int i = 0; i < n; i++) bytes += e[i].bytes;
    return bytes;
}

/* The default size limit: a tenth of the disk space that is free or taken by the cache, at most
 * 32 GB; 256 MiB if that is unknown. */
static int64_t usual_most(Arena *a)
{
    const int64_t least = INT64_C(256) << 20, most = INT64_C(32) * 1000 * 1000 * 1000;
    struct statvfs disk;
    const char *folder = cache_folder(a);
    while (folder && statvfs(folder, &disk) != 0) {
        if (errno != ENOENT || strcmp(folder, "/") == 0) return least;
        folder = file_folder(a, folder);
    }
    if (!folder) return least;
    const double tenth = ((double)disk.f_bavail * (double)disk.f_frsize + (double)held(a)) / 10;
    return tenth < (double)most ? (int64_t)tenth : most;
}

/* The text of XFORMC_CACHE_SIZE, or NULL; *bytes receives the size, or -1 if the text is not a
 * size. */
static const char *chosen_most(int64_t *bytes)
{
    size_t n;
    const char *choice = getenv("XFORMC_CACHE_SIZE");
    if (!choice || !*choice) return NULL;
    *bytes = text_to_bytes(choice, &n) && n <= INT64_MAX ? (int64_t)n : -1;
    return choice;
}

int64_t cache_most(Arena *a)
{
    int64_t bytes;
    return chosen_most(&bytes) && bytes >= 0 ? bytes : usual_most(a);
}

void cache_remark_on_settings(Arena *a, Diag *d)
{
    static bool told;
    const char *choice = getenv("XFORMC_CACHE");
    int64_t bytes;
    if (told) return;
    told = true;
    if (choice && *choice && strcmp(choice, "off") != 0)
        diag_remark(d, (Loc){ 0 }, "XFORMC_CACHE: expected off, found %s; it is ignored", choice);
    choice = chosen_most(&bytes);
    if (choice && bytes < 0)
        diag_remark(d, (Loc){ 0 }, "XFORMC_CACHE_SIZE: expected a size such as 262144, 256K, 1M or "
                    "2G, found %s; using %s", choice, text_bytes(a, (size_t)usual_most(a)));
}

/* Remove the least recently used entries until `bytes` more fit within the limit. */
static void make_room(Arena *a, int64_t bytes)
{
    int n, error;
    const int64_t most = cache_most(a);
    const CacheEntry *e = cache_list(a, &n, &error);
    for (int i = 0; i < n; i++)
        if ((bytes += e[i].bytes) > most) unlink(e[i].path);
}

/* ---- writing --------------------------------------------------------------------------------- */

FileWriter *cache_create(Arena *a, const char *path, int64_t bytes)
{
    struct stat info;
    Diag *untold = diag_new(a);
    if (!path || bytes > cache_most(a) || !make_folder(a, file_folder(a, path))) return NULL;
    /* file_create writes through links, as is right for files that the user names. An entry must
     * not be written to the target of a link. */
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && unlink(path) != 0) return NULL;
    make_room(a, bytes);
    if (!file_has_room(a, untold, path, (double)bytes)) return NULL;
    FileWriter *w = file_create(a, untold, path);
    if (!w || file_keep_private(w)) return w;
    file_abandon(w);
    return NULL;
}

bool cache_commit(Arena *a, FileWriter *w)
{
    if (!file_commit(w)) return false;
    make_room(a, 0);
    return true;
}

/* ---- one at a time --------------------------------------------------------------------------- */

static const char *lock_path(Arena *a, const char *path)
{
    return arena_format(a, "%s.lock", path);
}

/* True if the locked file still has its name; the previous holder may have removed it. */
static bool still_there(int lock, const char *path)
{
    struct stat mine, there;
    return fstat(lock, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

int cache_lock(Arena *a, const char *path)
{
    if (!make_folder(a, file_folder(a, path))) return -1;
    for (const char *name = lock_path(a, path);;) {
        const int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (lock < 0) return -1;
        int failed = flock(lock, LOCK_EX | LOCK_NB);
        if (failed && errno == EWOULDBLOCK)
            progress_say("waiting for another process that is packing the same weights");
        while (failed && (errno == EWOULDBLOCK || errno == EINTR)) failed = flock(lock, LOCK_EX);
        if (failed || still_there(lock, name)) {
            cleanup_add(name);
            return lock;
        }
        close(lock);
    }
}

void cache_unlock(Arena *a, const char *path, int lock)
{
    const char *name = lock_path(a, path);
    if (lock < 0) return;
    unlink(name);
    cleanup_drop(name);
    close(lock);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int last_used_first(const void *a, const void *b)
{
    const CacheEntry *x = a, *y = b;
    if (x->used != y->used) return (x->used < y->used) - (x->used > y->used);
    return strcmp(x->name, y->name);
}

/* The kind of a file named NAME-0123456789abcdef followed by an ending and `more`; CACHE_KINDS for
 * any other name. */
static CacheKind kind_of(const char *name, const char *more)
{
    const char *dash = strrchr(name, '-');
    CacheKind kind = 0;
    if (!dash || dash == name || strspn(dash + 1, "0123456789abcdef") != 16) return CACHE_KINDS;
    for (; kind < CACHE_KINDS; kind++) {
        const size_t n = strlen(endings[kind]);
        if (strncmp(dash + 17, endings[kind], n) == 0 && strcmp(dash + 17 + n, more) == 0) break;
    }
    return kind;
}

static void add_entry(Arena *a, CacheEntry **list, int *n, CacheEntry e)
{
    const size_t bytes = (size_t)*n * sizeof **list;
    if ((*n & (*n - 1)) == 0)       /* the array is full at 0, 1, 2, 4, … */
        *list = arena_grow(a, *list, bytes, bytes ? 2 * bytes : sizeof **list);
    (*list)[(*n)++] = e;
}

CacheEntry *cache_list(Arena *a, int *n, int *error)
{
    CacheEntry *list = NULL;
    struct stat info;
    const char *folder = cache_folder(a);
    DIR *dir = folder ? opendir(folder) : NULL;
    *n = 0;
    *error = folder && !dir && errno != ENOENT ? errno : 0;
    for (struct dirent *f; dir && (errno = 0, f = readdir(dir)) != NULL;) {
        const CacheKind kind = kind_of(f->d_name, "");
        const char *path = kind < CACHE_KINDS ? file_join(a, folder, f->d_name) : NULL;
        if (!path) continue;
        if (lstat(path, &info) != 0) {
            if (errno != ENOENT) *error = errno;
            continue;
        }
        if (S_ISREG(info.st_mode))
            add_entry(a, &list, n, (CacheEntry){ arena_text(a, f->d_name), path, kind, info.st_size,
                                                 info.st_mtim.tv_sec });
    }
    if (dir && errno) *error = errno;
    if (dir) closedir(dir);
    if (*n) qsort(list, (size_t)*n, sizeof *list, last_used_first);
    return list;
}

/* Remove the locks of processes that were killed. */
static void remove_locks(Arena *a, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;) {
        if (kind_of(f->d_name, ".lock") == CACHE_KINDS) continue;
        const char *path = file_join(a, folder, f->d_name);
        const int lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) unlink(path);
        if (lock >= 0) close(lock);
    }
    if (dir) closedir(dir);
}

bool cache_clear(Arena *a, Diag *d)
{
    int n, error;
    bool good = true;
    const char *folder = cache_folder(a);
    const CacheEntry *e = cache_list(a, &n, &error);
    if (!folder) return true;
    file_remove_stale(folder);
    remove_locks(a, folder);
    for (int i = 0; i < n; i++) {
        if (unlink(e[i].path) == 0 || errno == ENOENT) continue;
        diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot remove %s: %s", e[i].path, strerror(errno));
        good = false;
    }
    return good;
}
