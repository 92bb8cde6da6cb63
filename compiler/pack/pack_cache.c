/* pack_cache.c: packed data as entries of the cache, for later processes. One process packs an
 * entry while others wait for it; all of them map the file, so they share its pages.
 *
 * An entry is a packed file whose header, padded to HEAD_BYTES, does not list tensors:
 * {"__metadata__":{"xformc":"KEY","digests":"HASH"}} */
#include "pack_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "progress.h"
#include "rt_packed.h"
#include "weights.h"

/* LEAST_BYTES: less data takes only a few milliseconds to pack, and is not cached. */
enum { HEAD_BYTES = 128, LEAST_BYTES = 4 << 20 };

static const unsigned char *head_of_key(Arena *a, uint64_t key)
{
    static const char json[] = "{\"__metadata__\":{\"xformc\":\"%016" PRIx64 "\","
                               "\"digests\":\"%016d\"}}";
    char *head = arena_alloc(a, HEAD_BYTES + 1);
    snprintf(head + 8, HEAD_BYTES - 7, "%-*s", HEAD_BYTES - 8, arena_format(a, json, key, 0));
    head[0] = HEAD_BYTES - 8;
    return (const unsigned char *)head;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Compare two headers, except for the hash. */
static bool same_head(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, RT_PACKED_CONTENT_AT) == 0 &&
           memcmp(a + RT_PACKED_DATA_AT, b + RT_PACKED_DATA_AT,
                  HEAD_BYTES - RT_PACKED_DATA_AT) == 0;
}

/* Map an entry with `bytes` bytes of data. If its size or key is wrong, remove it and return
 * false. */
static bool map_entry(Arena *a, const char *path, size_t bytes, uint64_t key, FileMap *map)
{
    struct stat info;
    const size_t size = HEAD_BYTES + bytes;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    void *data = MAP_FAILED;
    bool good = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (uintmax_t)info.st_size == size;
    if (good) data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (good && data == MAP_FAILED) return false;           /* no memory; the file is good */
    good = good && same_head(data, head_of_key(a, key));
    if (good) *map = (FileMap){ .data = data, .size = size };
    else {
        unlink(path);
        if (data != MAP_FAILED) munmap(data, size);
    }
    return good;
}

static bool open_entry(Arena *a, Diag *d, const char *path, size_t bytes, uint64_t key,
                       FileMap *map)
{
    if (!cache_has(a, d, path) || !map_entry(a, path, bytes, key, map)) return false;
    cache_used(path);
    return true;
}

static const char *path_of(Arena *a, const Plan *p, uint64_t key)
{
    if (p->weights_bytes < LEAST_BYTES) return NULL;
    return cache_path(a, p->graph->model->name, key, CACHE_PACKED);
}

bool pack_is_cached(Arena *a, const Plan *p)
{
    int n;
    FileMap map;
    if (!path_of(a, p, 0)) return false;            /* too small, or no cache */
    const PackEntry *e = pack_entries(a, p, &n);
    const uint64_t key = pack_key(e, n, p->weights_bytes);
    if (!open_entry(a, NULL, path_of(a, p, key), p->weights_bytes, key, &map)) return false;
    file_unmap(&map);
    return true;
}

bool pack_cache_whole(const char *path)
{
    FileMap map;
    Arena *a = arena_new();
    bool good = file_map(diag_new(a), (Loc){ 0 }, path, &map);
    arena_free(a);
    if (!good) return false;
    good = map.size > HEAD_BYTES;
    if (good) {
        char digits[RT_PACKED_DIGITS + 1];
        snprintf(digits, sizeof digits, "%016" PRIx64, rt_packed_content(map.data, map.size));
        good = memcmp(digits, map.data + RT_PACKED_CONTENT_AT, RT_PACKED_DIGITS) == 0;
    }
    file_unmap(&map);
    return good;
}

/* ---- writing --------------------------------------------------------------------------------- */

static PackCached write_entry(Arena *a, Diag *d, const Plan *p, const char *path, uint64_t key)
{
    PackedFile file = { .plan = p, .head = head_of_key(a, key), .head_bytes = HEAD_BYTES };
    file.entries = pack_entries(a, p, &file.count);
    FileWriter *w = cache_create(a, path, (int64_t)(HEAD_BYTES + p->weights_bytes));
    if (!w) {
        const double bytes = (double)(HEAD_BYTES + p->weights_bytes);
        if (!file_has_room(a, diag_new(a), path, bytes))
            diag_remark(d, (Loc){ 0 }, "the packed weights of %s take %s, more than is free on the cache's disk, so they "
                        "are packed on every run", p->graph->model->name, text_bytes(a, (size_t)bytes));
        return PACK_NOT_CACHED;
    }
    const bool written = pack_to_file(a, w, &file), stay = weights_stay(d, p->graph->model);
    if (written && stay) return cache_commit(a, w) ? PACK_CACHED : PACK_NOT_CACHED;
    file_abandon(w);
    return stay ? PACK_NOT_CACHED : PACK_SPOILED;
}

/* True if the cache may keep the packed data: it fits, and all weights are finite. NaN and infinity
 * are reported whenever weights are read, so such weights are packed each time. */
static bool is_kept(Arena *a, Diag *d, const Plan *p)
{
    static bool told;
    const char *choice = getenv("XFORMC_CACHE_SIZE");
    const int64_t bytes = (int64_t)(HEAD_BYTES + p->weights_bytes), most = cache_most(a);
    if (bytes > most && !told)
        diag_remark(d, (Loc){ 0 }, "%s takes %s packed, but the limit of the cache is %s, so the model is "
                    "packed on every run; %s XFORMC_CACHE_SIZE", p->graph->model->name, text_bytes(a, (size_t)bytes),
                    text_bytes(a, (size_t)most), choice && *choice ? "raise" : "free disk space or set");
    told |= bytes > most;
    return bytes <= most && p->graph->model->weights_finite;
}

PackCached pack_cache_open(Arena *a, Diag *d, const Plan *p, uint64_t key, FileMap *map,
                           const unsigned char **data, bool *packed)
{
    const char *path = path_of(a, p, key);
    const size_t bytes = p->weights_bytes;
    PackCached found = PACK_NOT_CACHED;
    *packed = false;
    if (!path) return found;
    cache_remark_on_settings(a, d);
    if (open_entry(a, d, path, bytes, key, map)) found = PACK_CACHED;
    else if (is_kept(a, d, p)) {
        const int lock = cache_lock(a, path);
        if (open_entry(a, NULL, path, bytes, key, map)) found = PACK_CACHED;    /* by another process */
        else if (lock >= 0) {
            found = write_entry(a, d, p, path, key);
            *packed = found == PACK_CACHED;
            if (*packed && !open_entry(a, NULL, path, bytes, key, map)) found = PACK_NOT_CACHED;
        }
        cache_unlock(a, path, lock);
    }
    if (found == PACK_CACHED) *data = map->data + HEAD_BYTES;
    return found;
}
