/* rt_team.c: threads that wait for work, and a barrier between them.
 *
 * A waiting thread watches a counter that only grows: the number of bodies started, or of barriers
 * passed. It spins for some tens of microseconds, as long as a thread's share of a layer takes, and
 * then sleeps: another process may need the processor. Between runs it spins a few times as long,
 * because the caller may do a few small calls alone before the next one that it shares, as when a
 * translator's steps follow its encoder. A run ends with a barrier, so a team is idle whenever
 * rt_team_run is not running.
 *
 * A thread whose processor another process has taken keeps all others waiting for milliseconds, a
 * thousand times as long as a small model needs for a token. rt_team_share therefore measures how
 * long threads slept. If two runs in a row took longer with this waiting than one thread alone
 * would have taken, the caller works alone for a while, and for twice as long if that happens again
 * soon after: a processor may be gone for a moment or for good.
 *
 * Work of a few microseconds is done before the other threads have joined in. rt_team_weigh
 * therefore compares what threads save with what their barriers cost on this machine: 0.1 us to a
 * few microseconds. Waking a sleeping thread costs more, but only once: it is still awake for the
 * next call. So the savings missed because threads sleep are added up, as long as calls follow one
 * another so closely that the threads would have stayed awake; once these savings would have paid
 * for waking the threads, they are woken. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif
#if defined(__linux__) && !defined(RT_TEAM_NO_FUTEX)
#include <sys/syscall.h>
#if !defined(SYS_futex) && defined(SYS_futex_time64)        /* 32-bit, with 64-bit time only */
#define SYS_futex SYS_futex_time64
#endif
#endif
#ifdef SYS_futex
#define USE_FUTEX 1
/* As in <linux/futex.h>, which may be missing if the libc, such as musl, comes without kernel
 * headers. */
enum { WAIT_PRIVATE = 0 | 128, WAKE_PRIVATE = 1 | 128 };
#else
#define USE_FUTEX 0
#endif

enum { MAX_THREADS = 1024, LINE = 64 };
/* A spin takes 10 to 50 ns. `dates` calls its decoder for 70 us after it has encoded a text. */
enum { SPINS = 2000, IDLE_SPINS = 8000 };
enum { BAD_RUNS = 2 };
/* The time for which the caller works alone, as a multiple of the time of the bad runs. */
enum { PATIENCE_FIRST = 2, PATIENCE_MOST = 16 };
/* If runs are bad again within this multiple of the time for which the caller last worked alone, it
 * works alone for twice as long. */
enum { SOON = 8 };

/* A counter, and the threads that sleep until it grows. A thread raises `sleepers` before it checks
 * the counter for the last time, and counter_grow reads `sleepers` after it has raised the counter:
 * one of them sees the other. */
typedef struct Counter {
    _Alignas(LINE) _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
#if !USE_FUTEX
    pthread_mutex_t mutex;
    pthread_cond_t grown;
#endif
} Counter;

/* A barrier between pieces of work costs about BARRIER_HALVES / 2 times as much as one right after
 * another barrier, because threads are not equally fast and read what others wrote. */
enum { BARRIER_HALVES = 5 };
/* Threads must save at least 1 / LEAST_SAVED of the time; otherwise the caller works alone. */
enum { LEAST_SAVED = 16 };
enum { ROUND_BARRIERS = 32 };                   /* maximum number in one round of a measurement */
enum { LONG_NS = 50000, LONG_ROUNDS = 2 };      /* a measurement ends after two longer rounds */
enum { WAKE_NS = 50000 };                       /* time to wake a thread */
enum { AWAKE_NS = 10 * IDLE_SPINS };            /* how long an idle thread is certainly awake */
/* If barriers cost more than SLOW_NS, or were disturbed, they are measured again: a new thread may
 * begin on the processor of another. Measuring may wait milliseconds for threads whose processor is
 * taken, so the time until the next measurement is 4, 16, 64, and then 256 times as long as the
 * last one took. */
enum { SLOW_NS = 2000, AGAIN_SHIFT = 2, AGAIN_MOST = 8 };
/* A virtual machine may move the processors of two threads apart, so quick barriers are measured
 * again, too, after STALE_NS. Small work looks at the clock once in LOOK_CALLS calls. */
enum { STALE_NS = 250000000, LOOK_CALLS = 64 };

typedef struct Worker { rt_team *team; int thread; pthread_t handle; } Worker;

struct rt_team {
    Counter started, passed;                /* bodies, and barriers */
    _Alignas(LINE) _Atomic int arrived;     /* threads at the current barrier */
    _Alignas(LINE) rt_body *body;           /* NULL ends the workers */
    void *job;
    int threads, spins, idle_spins;
    _Atomic int64_t slept;                  /* ns slept at barriers of this run, all threads */
    bool alone;                             /* only the caller runs the body */
    int bad_runs, patience;
    /* Time of the bad runs; how long, and until when, the caller works alone. */
    int64_t bad_ns, alone_ns, alone_until;
    int64_t barrier_ns, missed_ns;          /* of a barrier, INT64_MAX: unknown; missed savings */
    int64_t measure_at, ended;              /* when barriers are measured next; end of the last call
                                             * that awake threads would have made faster */
    int64_t shortest;                       /* time of a barrier in the last measurement */
    int long_rounds, again;                 /* of the last measurement; see AGAIN_SHIFT */
    unsigned looks;                         /* calls of measure_if_due; see LOOK_CALLS */
    unsigned calls, shared;                 /* of rt_team_weigh; how many of them went to rt_team_share */
    Worker worker[];                        /* [threads]; [0] is not used */
};

/* ---- counters ------------------------------------------------------------------------------------------- */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#if USE_FUTEX
static void counter_init(Counter *c) { atomic_init(&c->value, 0), atomic_init(&c->sleepers, 0); }
static void counter_free(Counter *c) { (void)c; }

static void counter_sleep(Counter *c, uint32_t old)
{
    while (atomic_load(&c->value) == old)
        syscall(SYS_futex, &c->value, WAIT_PRIVATE, old, NULL, NULL, 0);
}

static void counter_wake(Counter *c) { syscall(SYS_futex, &c->value, WAKE_PRIVATE, MAX_THREADS, NULL, NULL, 0); }
#else
static void counter_init(Counter *c)
{
    atomic_init(&c->value, 0), atomic_init(&c->sleepers, 0);
    pthread_mutex_init(&c->mutex, NULL), pthread_cond_init(&c->grown, NULL);
}

static void counter_free(Counter *c) { pthread_mutex_destroy(&c->mutex), pthread_cond_destroy(&c->grown); }

static void counter_sleep(Counter *c, uint32_t old)
{
    pthread_mutex_lock(&c->mutex);
    while (atomic_load(&c->value) == old)
        pthread_cond_wait(&c->grown, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
}

static void counter_wake(Counter *c)
{
    pthread_mutex_lock(&c->mutex);
    pthread_cond_broadcast(&c->grown);
    pthread_mutex_unlock(&c->mutex);
}
#endif

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Wait until the counter is not `old`. If slept is not NULL, the time asleep is added to it. */
static void counter_wait(Counter *c, uint32_t old, int spins, _Atomic int64_t *slept)
{
    for (; spins > 0; spins--) {
        if (atomic_load_explicit(&c->value, memory_order_acquire) != old) return;
        relax();
    }
    const int64_t begin = slept ? nanoseconds() : 0;
    atomic_fetch_add(&c->sleepers, 1);
    counter_sleep(c, old);
    atomic_fetch_sub(&c->sleepers, 1);
    if (slept) atomic_fetch_add(slept, nanoseconds() - begin);
}

static void counter_grow(Counter *c)
{
    atomic_fetch_add(&c->value, 1);
    if (atomic_load(&c->sleepers)) counter_wake(c);
}

/* ---- threads ---------------------------------------------------------------------------------------------- */

void rt_team_barrier(rt_team *team)
{
    if (team->alone) return;
    const uint32_t old = atomic_load_explicit(&team->passed.value, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) < team->threads - 1) {
        counter_wait(&team->passed, old, team->spins, &team->slept);
        return;
    }
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    counter_grow(&team->passed);
}

static void *work(void *argument)
{
    Worker *self = argument;
    rt_team *team = self->team;
    for (uint32_t seen = 0;; seen++) {
        counter_wait(&team->started, seen, team->idle_spins, NULL);
        if (!team->body) return NULL;
        team->body(team->job, self->thread, team->threads);
        rt_team_barrier(team);
    }
}

int rt_team_threads(const rt_team *team) { return team ? team->threads : 1; }

void rt_team_run(rt_team *team, rt_body *body, void *job)
{
    if (!team) {
        body(job, 0, 1);
        return;
    }
    team->body = body, team->job = job;
    counter_grow(&team->started);
    body(job, 0, team->threads);
    rt_team_barrier(team);
}

static void run_alone(rt_team *team, rt_body *body, void *job)
{
    if (team) team->alone = true;
    body(job, 0, 1);
    if (team) team->alone = false;
}

/* A single bad run does not count: after workers have slept, it includes the time to wake them. */
void rt_team_share(rt_team *team, rt_body *body, void *job)
{
    const int64_t begin = team ? nanoseconds() : 0;
    if (!team || begin < team->alone_until) {
        run_alone(team, body, job);
        return;
    }
    atomic_store(&team->slept, 0);
    rt_team_run(team, body, job);
    const int64_t end = nanoseconds(), others = team->threads - 1, waited = atomic_load(&team->slept) / others;
    if (waited * team->threads <= (end - begin) * others) {
        team->bad_runs = 0;
        team->bad_ns = 0;
        return;
    }
    team->bad_ns += end - begin;
    if (++team->bad_runs < BAD_RUNS) return;
    if (end - team->alone_until > SOON * team->alone_ns) team->patience = PATIENCE_FIRST;
    else if (team->patience < PATIENCE_MOST) team->patience *= 2;
    team->alone_ns = team->patience * team->bad_ns;
    team->alone_until = end + team->alone_ns;
    team->bad_runs = 0;
    team->bad_ns = 0;
}

/* ---- small work ------------------------------------------------------------------------------------- */

/* Measure barriers, and keep the shortest time: whatever disturbs threads makes it longer. Rounds
 * begin when all threads are awake, and are short at first. The first barrier of a round may cost
 * thread 0 nothing, because the others have reached it while thread 0 read the clock. */
static void measure(void *job, int thread, int threads)
{
    rt_team *team = job;
    (void)threads;
    for (int barriers = 2; barriers <= ROUND_BARRIERS; barriers *= 2) {
        rt_team_barrier(team);
        if (team->long_rounds == LONG_ROUNDS) return;
        const int64_t begin = thread ? 0 : nanoseconds();
        if (!thread && barriers == 2) team->measure_at = begin;
        for (int i = 0; i < barriers; i++) rt_team_barrier(team);
        if (thread) continue;
        const int64_t end = nanoseconds(), ns = (end - begin) / (barriers - 1);
        if (ns < team->shortest) team->shortest = ns;
        team->long_rounds += end - begin > LONG_NS;
    }
}

static bool is_quick(const rt_team *team) { return team->barrier_ns <= SLOW_NS && team->long_rounds < LONG_ROUNDS; }

static void measure_if_due(rt_team *team)
{
    if (is_quick(team) && ++team->looks % LOOK_CALLS) return;
    if (nanoseconds() < team->measure_at) return;
    team->long_rounds = 0, team->shortest = INT64_MAX;
    rt_team_run(team, measure, team);
    team->barrier_ns = team->shortest;
    const int64_t end = nanoseconds();
    if (is_quick(team)) {
        team->again = 0, team->measure_at = end + STALE_NS;
        return;
    }
    if (team->again < AGAIN_MOST) team->again += AGAIN_SHIFT;
    team->measure_at = end + ((end - team->measure_at) << team->again);
}

/* How many of `ns` nanoseconds threads save, minus the least that they must save; exact only for
 * small work. */
static int64_t saved(rt_team *team, int barriers, int64_t ns)
{
    const int64_t most = ns - ns / team->threads;
    if (most > (int64_t)barriers * SLOW_NS) return most;
    measure_if_due(team);
    return most - ns / LEAST_SAVED - barriers * team->barrier_ns * BARRIER_HALVES / 2;
}

void rt_team_weigh(rt_team *team, rt_body *body, void *job, int barriers, int64_t ns)
{
    if (!team) {
        body(job, 0, 1);
        return;
    }
    const int64_t save = saved(team, barriers, ns);
    bool share = save > 0;
    if (share && atomic_load_explicit(&team->started.sleepers, memory_order_relaxed)) {
        if (nanoseconds() - team->ended > AWAKE_NS) team->missed_ns = 0;
        team->missed_ns += save;
        share = team->missed_ns >= WAKE_NS;
    }
    team->calls++;
    if (share) {
        team->shared++;
        rt_team_share(team, body, job);
        return;
    }
    run_alone(team, body, job);
    if (save > 0) team->ended = nanoseconds();
}

void rt_team_calls(const rt_team *team, unsigned *calls, unsigned *shared)
{
    *calls = team ? team->calls : 0;
    *shared = team ? team->shared : 0;
}

/* ---- a team's life -------------------------------------------------------------------------------------- */

/* End the first `threads` threads, which are idle, and release the team. */
static void team_end(rt_team *team, int threads)
{
    team->body = NULL;
    counter_grow(&team->started);
    for (int thread = 1; thread < threads; thread++)
        pthread_join(team->worker[thread].handle, NULL);
    counter_free(&team->started), counter_free(&team->passed);
    free(team);
}

/* Workers start with all signals blocked except those of faults, so only the caller's threads
 * receive the others. A fault belongs to the thread that causes it: if its signal were blocked, the
 * process would end without the caller's handler, for example when a mapped file of weights is
 * truncated. */
static rt_status team_start(rt_team *team)
{
    static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL };
    sigset_t blocked, before;
    int thread = 1, failed = 0;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    for (; thread < team->threads && !failed; thread += !failed) {
        Worker *w = &team->worker[thread];
        w->team = team, w->thread = thread;
        failed = pthread_create(&w->handle, NULL, work, w);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) return RT_OK;
    team_end(team, thread);
    return RT_NO_ROOM;
}

rt_status rt_team_resize(rt_team **team, int threads)
{
    rt_team *next = NULL;
    if (threads > MAX_THREADS) return RT_NO_ROOM;
    if (threads < 1) threads = 1;
    if (threads == rt_team_threads(*team)) return RT_OK;
    if (threads > 1) {
        const size_t bytes = sizeof *next + (size_t)threads * sizeof next->worker[0];
        next = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
        if (!next) return RT_NO_ROOM;
        counter_init(&next->started), counter_init(&next->passed);
        atomic_init(&next->arrived, 0);
        next->body = NULL, next->job = NULL, next->threads = threads;
        atomic_init(&next->slept, 0);
        next->alone = false, next->bad_runs = 0, next->patience = 0;
        next->bad_ns = next->alone_ns = next->alone_until = 0;
        next->barrier_ns = INT64_MAX, next->missed_ns = 0;
        next->long_rounds = next->again = 0, next->looks = 0;
        next->measure_at = next->ended = next->calls = next->shared = 0;
        /* With fewer processors than threads, spinning delays the others. */
        const bool spin = threads <= rt_processors();
        next->spins = spin ? SPINS : 0, next->idle_spins = spin ? IDLE_SPINS : 0;
        if (team_start(next) != RT_OK) return RT_NO_ROOM;
    }
    if (*team) team_end(*team, (*team)->threads);
    *team = next;
    return RT_OK;
}

/* ---- pinning -------------------------------------------------------------------------------------------- */

#ifdef __linux__
typedef struct Pins { cpu_set_t allowed; _Atomic int failed; } Pins;

/* Pin thread n to the n-th processor allowed. */
static void pin(void *job, int thread, int threads)
{
    Pins *pins = job;
    cpu_set_t one;
    size_t cpu = 0;
    (void)threads;
    for (int n = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &pins->allowed) && n++ == thread) break;
    CPU_ZERO(&one);
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &one);
    if (cpu == CPU_SETSIZE || pthread_setaffinity_np(pthread_self(), sizeof one, &one)) atomic_store(&pins->failed, 1);
}

rt_status rt_team_pin(rt_team *team)
{
    Pins pins;
    atomic_init(&pins.failed, 0);
    if (sched_getaffinity(0, sizeof pins.allowed, &pins.allowed)) return RT_NO_ROOM;
    if (CPU_COUNT(&pins.allowed) < rt_team_threads(team)) return RT_NO_ROOM;
    rt_team_run(team, pin, &pins);
    return atomic_load(&pins.failed) ? RT_NO_ROOM : RT_OK;
}
#else
rt_status rt_team_pin(rt_team *team) { (void)team; return RT_NO_ROOM; }
#endif
