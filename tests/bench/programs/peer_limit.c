/* peer_limit.c: measure how fast this machine reads, as a worker that takes turns with the workers
 * that compute, so that all see the same conditions: other users slow the memory down for everyone.
 *
 *   bytes=N threads=N
 * One unit of work reads N bytes once, divided among the threads, from 2 MB pages if the system
 * provides them. At the start the worker chooses the fastest way: one stream or four, with
 * prefetching of what lies AHEAD bytes ahead, or without. Which is fastest depends on the processor
 * and on which cache, if any, holds the bytes; the choice is printed to standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>

#include "peer_worker.h"
#include "rt.h"

enum { LARGE_PAGE = 2 << 20, LINES = 8, CHUNK = 64 * LINES, AHEAD = 2048, TRIES = 4 };
typedef int64_t Line __attribute__((vector_size(64)));

typedef struct Way { int streams, ahead; } Way;
static const Way ways[] = { { 1, 0 }, { 4, 0 }, { 1, AHEAD }, { 4, AHEAD } };

static unsigned char *data;
static int chunks;
static Way way;
static rt_team *team;
static int64_t sums[1024];              /* so that the compiler does not remove the reads */

/* Inlined: each constant number of streams gets its own loop. */
static inline __attribute__((always_inline)) int64_t sum_of(const unsigned char *from, size_t n,
                                                            int streams, int ahead)
{
    const size_t share = n / (size_t)streams;
    Line sum[LINES] = { { 0 } };
    int64_t all = 0;
    for (size_t at = 0; at < share; at += CHUNK / (size_t)streams)
        for (int i = 0; i < LINES; i++) {
            const int stream = i % streams, line = i / streams;
            const unsigned char *p = from + (size_t)stream * share + at + 64 * (size_t)line;
            if (ahead) __builtin_prefetch(p + ahead);
            sum[i] += *(const Line *)(const void *)p;
        }
    for (int i = 0; i < LINES; i++) all += sum[i][0];
    return all;
}

static void read_share(void *job, int thread, int threads)
{
    const rt_span mine = rt_split(chunks, thread, threads);
    const size_t n = (size_t)(mine.end - mine.begin) * CHUNK;
    const unsigned char *from = data + (size_t)mine.begin * CHUNK;
    (void)job;
    if (way.streams == 4) sums[thread] += sum_of(from, n, 4, way.ahead);
    else sums[thread] += sum_of(from, n, 1, way.ahead);
}

static int read_all(void)
{
    rt_team_run(team, read_share, NULL);
    return 1;
}

/* Choose the fastest way, from TRIES runs of each. */
static void choose_way(void)
{
    int64_t best = 0;
    Way fastest = ways[0];
    for (size_t i = 0; i < TRIES * sizeof ways / sizeof *ways; i++) {
        way = ways[i / TRIES];
        const int64_t begin = now_ns();
        read_all();
        const int64_t time = now_ns() - begin;
        if (i == 0 || time < best) best = time, fastest = way;
    }
    way = fastest;
    fprintf(stderr, "%d streams, %d bytes ahead\n", way.streams, way.ahead);
}

static int check_sums(FILE *to)
{
    for (int i = 0; i < 1024; i++) sums[i] = 0;
    read_all();
    return fwrite(sums, sizeof *sums, 1024, to) == 1024;
}

static void make_room(size_t bytes)
{
    const size_t room = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    data = aligned_alloc(LARGE_PAGE, room);
    if (!data) give_up("no memory");
    madvise(data, room, MADV_HUGEPAGE);
    memset(data, 1, room);
    chunks = (int)(bytes / CHUNK);
}

int main(int argc, char **argv)
{
    static const PeerWork work = { read_all, check_sums };
    (void)argc;
    peer_arguments = argv + 1;
    make_room((size_t)strtoull(argument("bytes", "0"), NULL, 10));
    if (rt_team_resize(&team, number("threads", 1)) != RT_OK) give_up("cannot use that many threads");
    choose_way();
    return serve(&work);
}
