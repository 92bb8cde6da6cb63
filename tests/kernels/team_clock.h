/* team_clock.h: a clock that the test moves: teams ask clock_gettime, which is the one here. Late
 * threads are late by this clock, whatever the machine does meanwhile. */
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
static _Atomic int64_t step_ms;             /* for which time passes whenever someone asks */
static _Thread_local int is_worker;         /* of the late thread */
static _Atomic int asked;                   /* how often others asked the clock */
static _Atomic int asked_before = -1;       /* when thread 0 came to the barrier; -1: it has not */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int64_t ms = atomic_fetch_add(&now_ms, atomic_load(&step_ms));
    (void)clock;
    if (!is_worker) atomic_fetch_add(&asked, 1);
    *t = (struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000) };
    return 0;
}

/* Thread 0 is about to come to the barrier at which thread 1 is late. */
static void thread_0_comes(void) { atomic_store(&asked_before, atomic_load(&asked)); }

/* Thread 1 lets thread 0 ask the clock before it falls asleep at the barrier, and then time pass. */
static void thread_1_is_late(void)
{
    is_worker = 1;
    while (atomic_load(&asked_before) < 0 || atomic_load(&asked) == atomic_load(&asked_before))
        sched_yield();
    atomic_store(&asked_before, -1);
    atomic_fetch_add(&now_ms, LATE_MS);
}

/* Whether all threads but the first sleep: /proc/self/task/N/stat is "N (name) S ..". */
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

/* Between two runs: until the workers have left the last barrier, and sleep until the next run. */
static void let_workers_sleep(void)
{
    while (!others_sleep()) sched_yield();
}

#endif
