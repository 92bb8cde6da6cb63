/* rt_weights.c: see rt_weights.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_weights.h"
#include "rt.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 64, LARGE_PAGE = 2 << 20, LEAST_COPIED = 4 << 20, SHARE_OF_MEMORY = 4, MOST_THREADS = 4 };

/* Allocate twice the room, or the first megabyte, and move the data. Returns 0 or an errno. */
static int grow(unsigned char **data, size_t used, size_t *room)
{
    const size_t next = *room ? 2 * *room : (size_t)1 << 20;
    unsigned char *more = next > *room ? aligned_alloc(ALIGNMENT, next) : NULL;
    if (!more) return ENOMEM;
    if (used) memcpy(more, *data, used);
    free(*data);
    *data = more, *room = next;
    return 0;
}

/* Weights are read from end to end for every row. With pages of 4 KiB, TLB misses cost a model of
 * 15 million parameters up to a quarter of its speed; the loss varies from process to process. */
void *rt_weights_room(size_t bytes, size_t *room)
{
    const size_t page = bytes >= LARGE_PAGE ? LARGE_PAGE : ALIGNMENT, whole = (bytes / page + 1) * page;
    void *data = aligned_alloc(page, whole);
#ifdef MADV_HUGEPAGE
    if (data && page == LARGE_PAGE) madvise(data, whole, MADV_HUGEPAGE);
#endif
    if (room) *room = whole;
    return data;
}

/* Allocate large pages for the bytes of a file. NULL if the file should stay mapped: a small one,
 * which fits in caches, or one that takes much of the memory, since copies are not shared between
 * processes. NULL also if memory runs out or the system has no large pages. */
static unsigned char *large_room(size_t bytes, size_t *room)
{
#if defined(MADV_HUGEPAGE) && defined(_SC_PHYS_PAGES)
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (bytes < LEAST_COPIED || pages <= 0 || page <= 0 || bytes / (size_t)page >= (size_t)pages / SHARE_OF_MEMORY) return NULL;
    return rt_weights_room(bytes, room);
#else
    (void)bytes, (void)room;
    return NULL;
#endif
}

/* Drop the pages of a copied piece of a mapped file or of the program; reading them again takes
 * them from the file. */
static void forget(const unsigned char *from, size_t bytes)
{
#ifdef MADV_DONTNEED
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)from;
    const uintptr_t begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
    if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
#else
    (void)from, (void)bytes;
#endif
}

/* A copy to large pages: from memory or, if `from` is NULL, from a file, starting at `first`. */
typedef struct Copy { unsigned char *to; const unsigned char *from; int fd; off_t first; size_t bytes; _Atomic int failed; } Copy;

/* Read bytes of the file to the same place in the copy; 0 if the file is shorter or reading
 * fails. */
static int read_piece(const Copy *c, size_t at, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(c->fd, c->to + at + done, bytes - done, c->first + (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        done += (size_t)n;
    }
    return 1;
}

static void copy_share(void *job, int thread, int threads)
{
    Copy *c = job;
    const rt_span mine = rt_split((int)((c->bytes + LARGE_PAGE - 1) / LARGE_PAGE), thread, threads);
    for (int page = mine.begin; page < mine.end; page++) {
        const size_t at = (size_t)page * LARGE_PAGE, n = c->bytes - at < LARGE_PAGE ? c->bytes - at : LARGE_PAGE;
        if (c->from) {
            memcpy(c->to + at, c->from + at, n);
            forget(c->from + at, n);
        } else if (!read_piece(c, at, n)) atomic_store(&c->failed, 1);
    }
}

/* The system spends most of the time clearing new pages; several threads share this work. */
static int copy_all(Copy *c)
{
    const int processors = rt_processors();
    rt_team *team = NULL;
    atomic_init(&c->failed, 0);
    /* If this fails, the team stays NULL and the caller copies alone. */
    rt_team_resize(&team, processors < MOST_THREADS ? processors : MOST_THREADS);
    rt_team_run(team, copy_share, c);
    rt_team_resize(&team, 1);
    return !atomic_load(&c->failed);
}

/* Read a file, to its end or until more than `most` bytes were read, into data[room], which is
 * owned and grown here. Returns 0 or an errno. */
static int read_all(RtWeights *w, int fd, size_t most, unsigned char *data, size_t room)
{
    size_t used = 0;
    int error = 0;
    while (used <= most) {
        ssize_t n;
        if (used == room && (error = grow(&data, used, &room))) break;
        n = read(fd, data + used, room - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) error = errno;
        if (n <= 0) break;
        used += (size_t)n;
    }
    if (error) free(data);
    else w->data = data, w->bytes = used;
    return error;
}

/* The weights in a file: after a program, or the whole file. */
typedef struct Part { off_t first; uintmax_t bytes; } Part;

static Part part_of(int fd, off_t size)
{
    static const char mark[] = "xformc weights ";
    char footer[RT_WEIGHTS_FOOTER + 1] = "", *end;
    const Part whole = { 0, (uintmax_t)size };
    if (size <= LARGE_PAGE || pread(fd, footer, RT_WEIGHTS_FOOTER, size - RT_WEIGHTS_FOOTER) != RT_WEIGHTS_FOOTER) return whole;
    if (memcmp(footer, mark, sizeof mark - 1) != 0) return whole;
    const uintmax_t bytes = strtoumax(footer + sizeof mark - 1, &end, 16), before = (uintmax_t)size - RT_WEIGHTS_FOOTER;
    const int good = *end == '\n' && bytes < before && (before - bytes) % LARGE_PAGE == 0;
    return good ? (Part){ (off_t)(before - bytes), bytes } : whole;
}

static int load(RtWeights *w, int fd, size_t most, int in_place)
{
    struct stat info;
    unsigned char *large;
    size_t room = 0;
    void *data;
    if (fstat(fd, &info)) return errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    if (!S_ISREG(info.st_mode) || info.st_size == 0) return read_all(w, fd, most, NULL, 0);
    const Part part = part_of(fd, info.st_size);
    const size_t bytes = (size_t)part.bytes;
    if (part.bytes > SIZE_MAX) return EFBIG;
    large = in_place ? NULL : large_room(bytes, &room);
    if (large) {
        Copy c = { .to = large, .fd = fd, .first = part.first, .bytes = bytes };
        const int copied = copy_all(&c);
        if (!copied && part.first) {
            free(large);
            return EIO;         /* the program was truncated in the meantime, or reading failed */
        }
        /* The file was truncated in the meantime, or reading failed: read it again as it is now. */
        if (!copied) return read_all(w, fd, SIZE_MAX, large, room);
        w->data = large, w->bytes = c.bytes;
        return 0;
    }
    data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, part.first);
    if (data == MAP_FAILED && part.first) return errno;
    if (data == MAP_FAILED) return read_all(w, fd, most, NULL, 0);
    w->data = data, w->bytes = bytes, w->mapped = 1;
    return 0;
}

static int open_and_load(RtWeights *w, const char *path, size_t most, int in_place)
{
    int fd, error;
    memset(w, 0, sizeof *w);
    do fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return errno;
    error = load(w, fd, most, in_place);
    close(fd);
    return error;
}

void rt_weights_copy(RtWeights *w, const void *data, size_t bytes)
{
    size_t room;
    unsigned char *large = large_room(bytes, &room);
    memset(w, 0, sizeof *w);
    if (!large) return;
    Copy c = { .to = large, .from = data, .bytes = bytes };
    copy_all(&c);
    w->data = large, w->bytes = bytes;
}

int rt_weights_open(RtWeights *w, const char *path) { return open_and_load(w, path, SIZE_MAX, 0); }
int rt_weights_map(RtWeights *w, const char *path, size_t most) { return open_and_load(w, path, most, 1); }

void rt_weights_close(RtWeights *w)
{
    if (w->mapped) munmap((void *)(uintptr_t)w->data, w->bytes);
    else free((void *)(uintptr_t)w->data);
    memset(w, 0, sizeof *w);
}
