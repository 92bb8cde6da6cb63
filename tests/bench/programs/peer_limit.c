/* peer_limit.c: how fast this machine reads, as a worker that takes turns with those that compute, so that both are measured under
 * the same conditions: memory that others use is slower for all.
 *
 *   bytes=N threads=N
 * One unit of work reads N bytes once, every thread its share in one stream, from pages of 2 MB where the system gives them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>

#include "peer_worker.h"
#include "rt.h"

enum { LARGE_PAGE = 2 << 20, CHUNK = 512 };
typedef int64_t Line __attribute__((vector_size(64)));

static unsigned char *data;
static int chunks;
static rt_team *team;
static int64_t sums[1024];              /* so that nothing is left out as useless */

static void read_share(void *job, int thread, int threads)
{
    const rt_span mine = rt_split(chunks, thread, threads);
    Line sum[8] = { { 0 } };
    (void)job;
    for (const unsigned char *p = data + (size_t)mine.begin * CHUNK; p < data + (size_t)mine.end * CHUNK; p += CHUNK)
        for (int i = 0; i < 8; i++) sum[i] += *(const Line *)(const void *)(p + 64 * i);
    for (int i = 0; i < 8; i++) sums[thread] += sum[i][0];
}

static int read_all(void)
{
    rt_team_run(team, read_share, NULL);
    return 1;
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
    make_room((size_t)number("bytes", 0));
    if (rt_team_resize(&team, number("threads", 1)) != RT_OK) give_up("no threads");
    return serve(&work);
}
