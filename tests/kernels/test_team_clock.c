/* test_team_clock.c: How long a team leaves out late threads: the oftener one is late, the longer.
 * The clock is that of team_clock.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel_test.h"
#include "team_clock.h"

enum { LATE_RUNS = 2, MOST = 16 };

typedef struct Job { rt_team *team; int late; _Atomic int threads; } Job;

static void body(void *argument, int thread, int threads)
{
    Job *job = argument;
    if (thread == 0) atomic_store(&job->threads, threads);
    if (thread == 0 && threads > 1 && job->late) thread_0_comes();
    if (thread == 1 && job->late) thread_1_is_late();
    rt_barrier(job->team);
}

static int threads_of_a_run(rt_team *team, int late)
{
    Job job = { .team = team, .late = late };
    rt_team_share(team, body, &job);
    return atomic_load(&job.threads);
}

/* Milliseconds for which the caller is alone after late runs that follow one another; it is tried again once they are over. */
static int alone_for(rt_team *team)
{
    int ms = 0;
    while (threads_of_a_run(team, 1) == 2) {}
    let_workers_sleep();        /* or time passes while thread 1 leaves the last barrier */
    for (; threads_of_a_run(team, 0) == 1; ms++) atomic_fetch_add(&now_ms, 1);
    return ms;
}

/* Twice what the bad runs took at first, then each time that follows soon twice as many times, up to 16; after a long good time as at first. */
static void patience(void **state)
{
    static const int times[] = { 2, 4, 8, 16, 16 };
    rt_team *team = NULL;
    (void)state;
    alarm(PATIENCE);
    assert_int_equal(rt_team_resize(&team, 2), RT_OK);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < COUNT(times); i++) assert_int_equal(alone_for(team), times[i] * LATE_RUNS * LATE_MS);
        atomic_fetch_add(&now_ms, 10 * MOST * LATE_RUNS * LATE_MS);
    }
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(patience) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
