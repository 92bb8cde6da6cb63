/* test_team.c: Teams start, change size and end. A body runs once on every thread. Barriers hold
 * under load, even with more threads than processors. A late thread is left out. More threads than
 * processors cannot be pinned. Work is split without gaps. A fault in a worker reaches the handler.
 * An alarm kills a test that hangs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel_test.h"
#include "team_clock.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 5, HAMMER_SECONDS = 10 };

typedef struct Thread { _Alignas(64) _Atomic int count; } Thread;
typedef struct Job {
    rt_team *team;
    _Atomic int rounds, wrong;
    time_t end;
    Thread thread[THREADS];
} Job;

static void count(void *argument, int thread, int threads)
{
    Job *job = argument;
    if (threads != rt_team_threads(job->team)) atomic_fetch_add(&job->wrong, 1);
    atomic_fetch_add(&job->thread[thread].count, 1);
}

/* After the first barrier of a round every thread sees that all have begun it. On a busy machine a
 * barrier takes milliseconds, so after HAMMER_SECONDS thread 0 makes the current round the last;
 * all threads see that after the second barrier. */
static void hammer(void *argument, int thread, int threads)
{
    Job *job = argument;
    for (int i = 1; i <= job->rounds; i++) {
        atomic_store_explicit(&job->thread[thread].count, i, memory_order_relaxed);
        rt_barrier(job->team);
        for (int l = 0; l < threads; l++)
            if (atomic_load_explicit(&job->thread[l].count, memory_order_relaxed) != i) atomic_fetch_add(&job->wrong, 1);
        if (thread == 0 && time(NULL) >= job->end) atomic_store(&job->rounds, i);
        rt_barrier(job->team);
    }
}

static void hammer_team(rt_team *team, int rounds)
{
    Job job = { .team = team, .rounds = rounds, .end = time(NULL) + HAMMER_SECONDS };
    alarm(PATIENCE);
    rt_team_run(team, hammer, &job);
    alarm(0);
    assert_int_equal(atomic_load(&job.wrong), 0);
    assert_int_equal(atomic_load(&job.thread[rt_team_threads(team) - 1].count), atomic_load(&job.rounds));
}

static void sizes(void **state)
{
    static const int order[] = { 1, 2, 3, 3, 2, 5, 1, 4, 0, 2, 1 };
    rt_team *team = NULL;
    (void)state;
    alarm(PATIENCE);
    for (size_t i = 0; i < COUNT(order); i++) {
        const int threads = order[i] ? order[i] : 1;
        assert_int_equal(rt_team_resize(&team, order[i]), RT_OK);
        assert_int_equal(rt_team_threads(team), threads);
        assert_true((team == NULL) == (threads == 1));
        for (int runs = 0; runs < 100; runs++) {
            Job job = { .team = team };
            rt_team_run(team, count, &job);
            assert_int_equal(atomic_load(&job.wrong), 0);
            for (int l = 0; l < THREADS; l++)
                assert_int_equal(atomic_load(&job.thread[l].count), l < threads);
        }
    }
    for (int i = 0; i < 200; i++) {                            /* ended while workers are still starting */
        assert_int_equal(rt_team_resize(&team, 3), RT_OK);
        assert_int_equal(rt_team_resize(&team, 1), RT_OK);
    }
    alarm(0);
}

static void no_room(void **state)
{
    rt_team *team = NULL, *before;
    (void)state;
    assert_int_equal(rt_team_resize(&team, 2), RT_OK);
    before = team;
    assert_int_equal(rt_team_resize(&team, 1000000), RT_NO_ROOM);
    assert_ptr_equal(team, before);
    hammer_team(team, 10);
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
}

/* Workers that fell asleep between two runs wake up for the next. */
static void asleep(void **state)
{
    rt_team *team = NULL;
    (void)state;
    assert_int_equal(rt_team_resize(&team, 3), RT_OK);
    for (int i = 0; i < 20; i++) {
        alarm(PATIENCE);
        let_workers_sleep();
        hammer_team(team, 3);
    }
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
}

static void barriers(void **state)
{
    rt_team *team = NULL;
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(rt_team_resize(&team, threads), RT_OK);
        hammer_team(team, 50000);                                       /* two barriers per round */
    }
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
}

/* A run: whether thread 1 is late, the number of threads, and how many passed both barriers. */
typedef struct Shared { rt_team *team; int late; _Atomic int threads, passed; } Shared;

static void late(void *argument, int thread, int threads)
{
    Shared *job = argument;
    atomic_store(&job->threads, threads);
    rt_barrier(job->team);
    if (thread == 0 && threads > 1 && job->late) thread_0_comes();
    if (thread == 1 && job->late) thread_1_is_late();
    rt_barrier(job->team);
    atomic_fetch_add(&job->passed, 1);
}

static int threads_of_a_run(rt_team *team, int late_run)
{
    Shared job = { .team = team, .late = late_run };
    rt_team_share(team, late, &job);
    assert_int_equal(atomic_load(&job.passed), atomic_load(&job.threads));
    return atomic_load(&job.threads);
}

/* A thread that delays the other in run after run is left out for a while, then tried again. */
static void a_late_thread_is_left_out(void **state)
{
    rt_team *team = NULL;
    int runs = 0;
    (void)state;
    alarm(PATIENCE);
    assert_int_equal(threads_of_a_run(NULL, 0), 1);
    assert_int_equal(rt_team_resize(&team, 2), RT_OK);
    assert_int_equal(threads_of_a_run(team, 1), 2);                   /* one late run may be chance */
    while (threads_of_a_run(team, 1) == 2) assert_true(++runs < 20);
    assert_int_equal(rt_team_threads(team), 2);
    hammer_team(team, 100);                                /* rt_team_run always uses all threads */
    for (runs = 0; threads_of_a_run(team, 0) == 1; runs++) {
        assert_true(runs < 20000);
        atomic_fetch_add(&now_ms, 1);
    }
    assert_true(runs > 0);
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
    alarm(0);
}

/* All threads on one processor: spinning threads delay working ones. */
static void oversubscribed(void **state)
{
    cpu_set_t before, one;
    rt_team *team = NULL;
    int cpu = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    for (int known = 0; known < 2; known++) {  /* affinity set after the team starts, then before */
        if (known) sched_setaffinity(0, sizeof one, &one);
        assert_int_equal(rt_team_resize(&team, 2), RT_OK);
        if (!known) assert_int_equal(rt_team_pin(team), CPU_COUNT(&before) > 1 ? RT_OK : RT_NO_ROOM);
        sched_setaffinity(0, sizeof one, &one);
        hammer_team(team, known ? 50000 : 2000);
        assert_int_equal(rt_team_resize(&team, 1), RT_OK);
        sched_setaffinity(0, sizeof before, &before);
    }
}

static void pin_too_many(void **state)
{
    rt_team *team = NULL;
    const int threads = rt_processors() + 1;
    cpu_set_t before;
    (void)state;
    sched_getaffinity(0, sizeof before, &before);
    assert_true(rt_processors() >= 1 && rt_processors() <= CPU_COUNT(&before));
    assert_int_equal(rt_team_resize(&team, CPU_COUNT(&before) + 1), RT_OK);
    assert_int_equal(rt_team_pin(team), RT_NO_ROOM);
    assert_int_equal(rt_team_resize(&team, threads), RT_OK);
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
}

static void split(void **state)
{
    (void)state;
    for (int n = 0; n < 40; n++)
        for (int threads = 1; threads < 7; threads++)
            for (int thread = 0, end = 0; thread < threads; thread++) {
                const rt_span s = rt_split(n, thread, threads);
                assert_true(s.begin == end && s.end >= s.begin && s.end - s.begin <= n / threads + 1);
                end = s.end;
                if (thread == threads - 1) assert_int_equal(end, n);
            }
}

/* ---- a fault in a worker --------------------------------------------------------------------- */

enum { FAULT_SEEN = 74, FAULT_MISSED = 1 };

static void fault_seen(int number)
{
    (void)number;
    _exit(FAULT_SEEN);
}

static void read_past_the_end(void *argument, int thread, int threads)
{
    const volatile char *map = argument;
    if (thread == threads - 1 && map[0]) _exit(FAULT_MISSED);
}

/* The child's last thread reads a mapped file that is empty by then. */
static void a_fault_in_a_worker_reaches_the_handler(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const struct sigaction action = { .sa_handler = fault_seen };
        FILE *file = tmpfile();
        rt_team *team = NULL;
        alarm(PATIENCE);
        if (!file || fputc('x', file) == EOF || fflush(file) != 0) _exit(FAULT_MISSED);
        void *map = mmap(NULL, 1, PROT_READ, MAP_SHARED, fileno(file), 0);
        if (map == MAP_FAILED || ftruncate(fileno(file), 0) != 0 || sigaction(SIGBUS, &action, NULL) != 0) _exit(FAULT_MISSED);
        if (rt_team_resize(&team, 2) != RT_OK) _exit(FAULT_MISSED);
        rt_team_run(team, read_past_the_end, map);
        _exit(FAULT_MISSED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), FAULT_SEEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split), cmocka_unit_test(sizes), cmocka_unit_test(no_room), cmocka_unit_test(asleep),
        cmocka_unit_test(barriers), cmocka_unit_test(oversubscribed), cmocka_unit_test(pin_too_many),
        cmocka_unit_test(a_late_thread_is_left_out), cmocka_unit_test(a_fault_in_a_worker_reaches_the_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
