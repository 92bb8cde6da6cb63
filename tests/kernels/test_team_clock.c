/* test_team_clock.c: How long a team leaves out late threads: longer each time they are late again
 * soon after. When it wakes sleeping threads. Costly barriers keep work on one thread, also if
 * they become costly later. Uses the fake clock of team_clock.h. */
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

/* Milliseconds for which the caller works alone after late runs in a row, until the other thread is
 * tried again. */
static int alone_for(rt_team *team)
{
    int ms = 0;
    while (threads_of_a_run(team, 1) == 2) {}
    let_workers_sleep();        /* else time passes while thread 1 leaves the last barrier */
    for (; threads_of_a_run(team, 0) == 1; ms++) atomic_fetch_add(&now_ms, 1);
    return ms;
}

/* At first the caller works alone for twice the time of the bad runs. If bad runs come again soon,
 * the factor doubles, up to 16; after a long time without bad runs it is 2 again. */
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

/* ---- small work: barriers cost nothing by this clock, unless it steps ------------------------ */

static void count(void *argument, int thread, int threads)
{
    Job *job = argument;
    if (thread == 0) atomic_store(&job->threads, threads);
}

static int threads_of_work(rt_team *team, int barriers, double ns)
{
    Job job = { .team = team };
    let_workers_sleep();
    rt_team_weigh(team, count, &job, barriers, ns);
    return atomic_load(&job.threads);
}

/* Sharing 10 us of work saves 4.375 us; waking a thread costs 50 us. */
static void waking(void **state)
{
    rt_team *team = NULL;
    unsigned calls, shared;
    (void)state;
    alarm(PATIENCE);
    assert_int_equal(threads_of_work(NULL, 1, 1e9), 1);
    assert_int_equal(rt_team_resize(&team, 2), RT_OK);
    assert_int_equal(threads_of_work(team, 10, 0), 1);
    assert_int_equal(threads_of_work(team, 10, 1e9), 2);
    for (int i = 0; i < 40; i++) {                                      /* far apart: never */
        atomic_fetch_add(&now_ms, 1);
        assert_int_equal(threads_of_work(team, 10, 10000), 1);
    }
    atomic_fetch_add(&now_ms, 1);
    for (int i = 1; i <= 36; i++)                                       /* one after another: from the 12th */
        assert_int_equal(threads_of_work(team, 10, 10000), i < 12 ? 1 : 2);
    atomic_fetch_add(&now_ms, 1);
    for (int i = 1; i <= 12; i++) {                                     /* with small calls of 60 us between them */
        assert_int_equal(threads_of_work(team, 10, 10000), i < 12 ? 1 : 2);
        assert_int_equal(threads_of_work(team, 10, 0), 1);
        atomic_fetch_add(&more_us, 60);
    }
    rt_team_calls(team, &calls, &shared);
    assert_int_equal(calls, 102);
    assert_int_equal(shared, 27);
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
    rt_team_calls(team, &calls, &shared);
    assert_int_equal(calls + shared, 0);
    alarm(0);
}

/* Barriers cost milliseconds, and later nothing. Each measurement takes 20 ms or more, and the next
 * one begins 4, 16, 64, 256 and 256 times that long after it. */
static void costly_barriers(void **state)
{
    rt_team *team = NULL;
    (void)state;
    alarm(PATIENCE);
    assert_int_equal(rt_team_resize(&team, 2), RT_OK);
    static const int times[] = { 4, 16, 64, 256, 256 };
    for (size_t again = 0; again < COUNT(times); again++) {
        atomic_store(&step_ms, 5);          /* each look at the clock takes 5 ms */
        assert_int_equal(threads_of_work(team, 100, 200000), 1);
        atomic_store(&step_ms, 0);
        for (int i = 0; i < times[again] - 1; i++) {
            assert_int_equal(threads_of_work(team, 100, 200000), 1);
            atomic_fetch_add(&now_ms, 20);
        }
        assert_int_equal(threads_of_work(team, 1, 200000), 2);          /* much work for one barrier */
        atomic_fetch_add(&now_ms, 1000000);
    }
    assert_int_equal(threads_of_work(team, 100, 200000), 2);
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
    alarm(0);
}

/* One call in 64 looks whether the last measurement is 250 ms old. Barriers that have become costly
 * are noticed then; once they cost nothing again, both threads work again. */
static void barriers_are_measured_again(void **state)
{
    rt_team *team = NULL;
    (void)state;
    alarm(PATIENCE);
    assert_int_equal(rt_team_resize(&team, 2), RT_OK);
    assert_int_equal(threads_of_work(team, 100, 200000), 2);
    for (int again = 0; again < 2; again++) {
        for (int i = 1; i < 64; i++) assert_int_equal(threads_of_work(team, 100, 200000), 2);
        atomic_fetch_add(&now_ms, 240);
        atomic_store(&step_ms, 5);
        assert_int_equal(threads_of_work(team, 100, 200000), 2);        /* looks, but it is too early */
        atomic_store(&step_ms, 0);
        for (int i = 1; i < 64; i++) assert_int_equal(threads_of_work(team, 100, 200000), 2);
        atomic_fetch_add(&now_ms, 20);
        atomic_store(&step_ms, 5);
        assert_int_equal(threads_of_work(team, 100, 200000), 1);
        atomic_store(&step_ms, 0);
        atomic_fetch_add(&now_ms, 1000000);
        assert_int_equal(threads_of_work(team, 100, 200000), 2);
    }
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(patience), cmocka_unit_test(waking), cmocka_unit_test(costly_barriers),
                                        cmocka_unit_test(barriers_are_measured_again) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
