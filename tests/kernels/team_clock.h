/* team_clock.h: a clock that only the test advances. It replaces clock_gettime, which teams call.
 * By this clock threads are late on command, whatever else the machine does. */
#ifndef TEAM_CLOCK_H
#define TEAM_CLOCK_H

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LATE_MS = 10 };

static _Atomic int64_t now_ms = 1000000;
static _Atomic int64_t more_us;             /* added to now_ms */
static _Atomic int64_t step_ms;             /* added at each call of clock_gettime */
static _Thread_local int is_worker;         /* set in the late thread */
static _Atomic int asked;                   /* calls of clock_gettime by other threads */
static _Atomic int asked_before = -1;     /* `asked` when thread 0 reached the barrier; -1: not yet */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int64_t ms = atomic_fetch_add(&now_ms, atomic_load(&step_ms));
    (void)clock;
    if (!is_worker) atomic_fetch_add(&asked, 1);
    const int64_t us = 1000 * ms + atomic_load(&more_us);
    *t = (struct timespec){ .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000) };
    return 0;
}

/* Thread 0 is about to reach the barrier at which thread 1 is late. */
static void thread_0_comes(void) { atomic_store(&asked_before, atomic_load(&asked)); }

/* Wait until thread 0, about to sleep at the barrier, has read the clock; then advance it. */
static void thread_1_is_late(void)
{
    is_worker = 1;
    while (atomic_load(&asked_before) < 0 || atomic_load(&asked) == atomic_load(&asked_before))
        sched_yield();
    atomic_store(&asked_before, -1);
    atomic_fetch_add(&now_ms, LATE_MS);
}

/* True if all threads but the first sleep: /proc/self/task/N/stat is "N (name) S ..". */
static int others_sleep(void)
{
    int sleep = 1;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;) {
        char path[300], line[512] = "";
        if (f->d_name[0] == '.' || atol(f->d_name) == (long)getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", f->d_name);
        FILE *stat = fopen(path, "r");
        const char *end = stat && fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
        if (end && end[1] && end[2] != 'S') sleep = 0;
        if (stat) fclose(stat);
    }
    if (dir) closedir(dir);
    return sleep;
}

/* Between two runs: wait until the workers have left the last barrier and sleep. */
static void let_workers_sleep(void)
{
    while (!others_sleep()) sched_yield();
}

#endif
