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

#include <limits.h>

#include "peer_worker.h"
#include "reading.h"
#include "rt.h"

static unsigned char *data;
static int chunks, way;
static rt_team *team;
static int64_t sums[1024];              /* so that the compiler does not remove the reads */

static void read_share(void *job, int thread, int threads)
{
    const rt_span mine = rt_split(chunks, thread, threads);
    (void)job;
    sums[thread] += read_in_way(way, data + (size_t)mine.begin * CHUNK, (size_t)(mine.end - mine.begin) * CHUNK);
}

static int read_all(void)
{
    rt_team_run(team, read_share, NULL);
    return 1;
}

static void read_all_in_way(void *context, int how)
{
    (void)context;
    way = how;
    read_all();
}

static void choose_way(void)
{
    way = fastest_way(read_all_in_way, NULL);
    fprintf(stderr, "%d streams, %d bytes ahead\n", ways[way].streams, ways[way].ahead);
}

static int check_sums(FILE *to)
{
    for (int i = 0; i < 1024; i++) sums[i] = 0;
    read_all();
    return fwrite(sums, sizeof *sums, 1024, to) == 1024;
}

int main(int argc, char **argv)
{
    static const PeerWork work = { read_all, check_sums };
    (void)argc;
    peer_arguments = argv + 1;
    const int64_t bytes = whole_number(argument("bytes", ""), (int64_t)INT_MAX * CHUNK), threads = whole_number(argument("threads", "1"), 1024);
    if (bytes < 0 || threads < 0) give_up("expected bytes=N threads=N");
    data = room((size_t)bytes, LARGE_PAGE, 1);
    chunks = (int)(bytes / CHUNK);
    if (rt_team_resize(&team, (int)threads) != RT_OK) give_up("cannot use that many threads");
    choose_way();
    return serve(&work);
}
