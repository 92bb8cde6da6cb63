/* machine.c: time loops that only read, or only multiply and add.
 *
 * A loop is written once, as a macro over a vector type, and compiled for several instruction sets,
 * on x86 by a function attribute; the widest vectors that this processor has are used. Each thread
 * reads its own share repeatedly. */
#include "machine.h"
#include "clock.h"
#include "rt_weights.h"
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

const char *const limit_level_names[LIMIT_LEVELS] = { [LEVEL_L2] = "L2", [LEVEL_L3] = "L3", [LEVEL_DRAM] = "DRAM" };

/* ---- loops ------------------------------------------------------------------------------------------------ */

enum { CHAINS = 12, STREAM = 8, AHEAD = 2048 };

/* Ways to read: in one stream or in four, with or without prefetching AHEAD bytes ahead. The
 * fastest depends on processor and level: an AMD core reads its L3 best with prefetching, an Intel
 * Xeon in four streams. */
typedef struct Way { int streams, ahead; } Way;
static const Way ways[] = { { 1, 0 }, { 4, 0 }, { 1, AHEAD }, { 4, AHEAD } };
enum { WAYS = sizeof ways / sizeof *ways };

/* multiply: twelve independent chains, enough for two FMA units with a latency of four to six
 * cycles. They start with different values, or the compiler would merge them. read, read_four: the
 * sum of from[floats], a multiple of eight vectors, in eight accumulators; read_four takes two
 * vectors from each quarter in turn. */
#define LOOPS(name, attribute, V, SET, FMA)                                                                       \
    attribute static float multiply_##name(long n, float x)                                                       \
    {                                                                                                             \
        const V b = SET(x), c = SET(1 - x);                                                                       \
        V s0 = SET(x), s1 = SET(x + 1), s2 = SET(x + 2), s3 = SET(x + 3), s4 = SET(x + 4), s5 = SET(x + 5);       \
        V s6 = SET(x + 6), s7 = SET(x + 7), s8 = SET(x + 8), s9 = SET(x + 9), s10 = SET(x + 10), s11 = SET(x + 11); \
        for (long i = 0; i < n; i++) {                                                                            \
            s0 = FMA(s0, b, c), s1 = FMA(s1, b, c), s2 = FMA(s2, b, c), s3 = FMA(s3, b, c);                       \
            s4 = FMA(s4, b, c), s5 = FMA(s5, b, c), s6 = FMA(s6, b, c), s7 = FMA(s7, b, c);                       \
            s8 = FMA(s8, b, c), s9 = FMA(s9, b, c), s10 = FMA(s10, b, c), s11 = FMA(s11, b, c);                   \
        }                                                                                                         \
        s0 = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11;                                         \
        return s0[0];                                                                                             \
    }                                                                                                             \
    attribute static float read_##name(const float *from, size_t floats, int ahead)                               \
    {                                                                                                             \
        const V *v = (const V *)(const void *)from, *const end = v + floats * sizeof *from / sizeof *v;           \
        V s0 = SET(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;                             \
        for (; v < end; v += STREAM) {                                                                            \
            for (size_t line = 0; ahead && line < STREAM * sizeof *v; line += 64)                                 \
                __builtin_prefetch((const char *)v + ahead + line);                                               \
            s0 += v[0], s1 += v[1], s2 += v[2], s3 += v[3];                                                       \
            s4 += v[4], s5 += v[5], s6 += v[6], s7 += v[7];                                                       \
        }                                                                                                         \
        s0 = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;                                                               \
        return s0[0];                                                                                             \
    }                                                                                                             \
    attribute static float read_four_##name(const float *from, size_t floats, int ahead)                          \
    {                                                                                                             \
        const size_t quarter = floats * sizeof *from / sizeof(V) / 4;                                             \
        const V *a = (const V *)(const void *)from, *const end = a + quarter;                                     \
        const V *b = a + quarter, *c = b + quarter, *d = c + quarter;                                             \
        V s0 = SET(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;                             \
        for (; a < end; a += 2, b += 2, c += 2, d += 2) {                                                         \
            for (size_t line = 0; ahead && line < 2 * sizeof *a; line += 64) {                                    \
                __builtin_prefetch((const char *)a + ahead + line);                                               \
                __builtin_prefetch((const char *)b + ahead + line);                                               \
                __builtin_prefetch((const char *)c + ahead + line);                                               \
                __builtin_prefetch((const char *)d + ahead + line);                                               \
            }                                                                                                     \
            s0 += a[0], s1 += a[1], s2 += b[0], s3 += b[1];                                                       \
            s4 += c[0], s5 += c[1], s6 += d[0], s7 += d[1];                                                       \
        }                                                                                                         \
        s0 = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;                                                               \
        return s0[0];                                                                                             \
    }

typedef struct Loops {
    unsigned isa;                   /* RT_ISA_* bits that it needs */
    int floats;                     /* per vector */
    float (*multiply)(long n, float x);
    float (*read)(const float *from, size_t floats, int ahead), (*read_four)(const float *from, size_t floats, int ahead);
} Loops;

typedef float Four __attribute__((vector_size(16)));
#define FOUR(x) ((Four){ (x), (x), (x), (x) })

#if defined(__x86_64__)
LOOPS(avx512, __attribute__((target("avx512f"))), __m512, _mm512_set1_ps, _mm512_fmadd_ps)
LOOPS(avx2, __attribute__((target("avx2,fma"))), __m256, _mm256_set1_ps, _mm256_fmadd_ps)
#endif
#if defined(__ARM_NEON) && defined(__aarch64__)
#define NEON_FMA(a, b, c) ((Four)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
LOOPS(four, , Four, FOUR, NEON_FMA)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
LOOPS(four, , Four, FOUR, MULTIPLY_ADD)
#endif

/* The widest first; the last runs on any processor. */
static const Loops all_loops[] = {
#if defined(__x86_64__)
    { RT_ISA_AVX512, 16, multiply_avx512, read_avx512, read_four_avx512 },
    { RT_ISA_AVX2 | RT_ISA_FMA, 8, multiply_avx2, read_avx2, read_four_avx2 },
#endif
    { 0, 4, multiply_four, read_four, read_four_four },
};

static const Loops *usable_loops(void)
{
    const Loops *l = all_loops;
    while (rt_isa_missing(l->isa)) l++;
    return l;
}

/* ---- timing ----------------------------------------------------------------------------------------------- */

/* One loop on every thread. from NULL: multiply; else read. */
typedef struct Task {
    const Loops *loops;
    const float *from;  size_t floats;      /* of all threads together */
    Way way;
    long times;
    int windows;                            /* adjacent ranges of `floats`, one per try in turn */
    float result[LIMIT_THREADS];              /* keeps the compiler from dropping the loops */
} Task;

enum { CHUNK = 16 * STREAM };               /* floats: eight of the widest vectors */

static void task_body(void *job, int thread, int threads)
{
    Task *t = job;
    const rt_span mine = rt_split((int)(t->floats / CHUNK), thread, threads);
    const size_t floats = (size_t)(mine.end - mine.begin) * CHUNK;
    float sum = 0;
    if (!t->from) sum = t->loops->multiply(t->times, 0.999f);
    for (long i = 0; t->from && i < t->times; i++) {
        const float *const from = t->from + (size_t)mine.begin * CHUNK;
        sum += t->way.streams == 1 ? t->loops->read(from, floats, t->way.ahead)
                                   : t->loops->read_four(from, floats, t->way.ahead);
    }
    t->result[thread] = sum;
}

static double seconds_now(void)
{
    return 1e-9 * (double)clock_now_ns();
}

static double time_task(rt_team *team, const Task *t, int try)
{
    Task window = *t;
    if (t->from) window.from += (size_t)(try % t->windows) * t->floats;
    const double begin = seconds_now();
    rt_team_run(team, task_body, &window);
    return seconds_now() - begin;
}

static double best_time(rt_team *team, const Task *t, int tries)
{
    double best = time_task(team, t, 0);
    for (int i = 1; i < tries; i++) {
        const double s = time_task(team, t, i);
        if (s < best) best = s;
    }
    return best;
}

/* Set the fastest way to read, after trying each a few times. */
static void choose_way(rt_team *team, Task *t)
{
    enum { TRIES = 4 };
    double best = 0;
    Way fastest = ways[0];
    for (int i = 0; i < WAYS; i++) {
        t->way = ways[i];
        const double s = best_time(team, t, TRIES);
        if (i == 0 || s < best) best = s, fastest = ways[i];
    }
    t->way = fastest;
}

/* The rate per second of a task that does `each` units of work in each iteration. It is the best of
 * many tries, which are short, so that some are not interrupted. The first tries fill the
 * caches. */
static double rate(rt_team *team, Task *t, double each)
{
    enum { TRIES = 24 };
    const double long_enough = 1e-3;
    double best = best_time(team, t, t->windows);
    for (; t->windows == 1 && best < long_enough; best = best_time(team, t, 3)) t->times *= 2;
    if (t->from) choose_way(team, t);
    return each * (double)t->times / best_time(team, t, TRIES);
}

/* Keep the best rate. More threads reach at least the rate of fewer threads, so a lower rate was
 * due to other processes. */
static void keep_better(double *by_threads, int threads, double found)
{
    for (int i = 1; i < threads; i++)
        if (by_threads[i] > found) found = by_threads[i];
    if (found > by_threads[threads]) by_threads[threads] = found;
}

/* ---- what is measured ------------------------------------------------------------------------------------- */

/* A number such as "1024K" in a file of /sys; 0 if there is none. */
static size_t read_size(const char *path)
{
    char unit = 0;
    unsigned long n = 0;
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    if (fscanf(f, "%lu%c", &n, &unit) < 1) n = 0;
    fclose(f);
    return unit == 'K' ? (size_t)n << 10 : unit == 'M' ? (size_t)n << 20 : (size_t)n;
}

/* Set the cache sizes to those that Linux reports for processor 0; without a report, to an L2 of
 * 512 KiB and no L3. */
static void find_caches(Limits *l)
{
    enum { MOST_CACHES = 10 };
    l->bytes[LEVEL_L2] = (size_t)512 << 10;
    for (int i = 0; i < MOST_CACHES; i++) {
        char path[80];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        const size_t level = read_size(path);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        const size_t bytes = read_size(path);
        if (level == 2 && bytes) l->bytes[LEVEL_L2] = bytes;
        if (level == 3) l->bytes[LEVEL_L3] = bytes;
    }
}

/* How many bytes to read so that they come from this level and not from a smaller one; 0 if there
 * is no such level, or the L3 is at most twice as large as the L2 caches of all threads. An L3 may
 * be shared with other virtual machines: reads of half its size have been seen to go to memory, so
 * at most four times the size of those L2 caches is read. */
static size_t bytes_to_read(const Limits *l, LimitLevel level, int threads, size_t most)
{
    const size_t l2 = l->bytes[LEVEL_L2] * (size_t)threads, l3 = l->bytes[LEVEL_L3];
    size_t bytes = most;
    if (level == LEVEL_L2) bytes = l2 / 2;
    if (level == LEVEL_L3) bytes = l3 > 4 * l2 ? 4 * l2 : l3 > 2 * l2 ? 2 * l2 : 0;
    return bytes < most ? bytes : most;
}

/* The size of the buffer: eight times the L3, but between 64 MiB and 1 GiB, and at most an eighth
 * of the machine's memory. */
static size_t buffer_bytes(const Limits *l)
{
    const size_t least = (size_t)64 << 20, most = (size_t)1 << 30, eighth = memory_of_machine() / 8;
    size_t bytes = 8 * l->bytes[LEVEL_L3];
    bytes = bytes < least ? least : bytes > most ? most : bytes;
    return bytes < eighth || !eighth ? bytes : eighth / 4096 * 4096;
}

static void probe_threads(Limits *l, const Loops *loops, rt_team *team, int threads, const float *buffer, size_t bytes)
{
    enum { ROUNDS = 100, WINDOWS = 8 };
    Task multiply = { .loops = loops, .times = ROUNDS, .windows = 1 };
    keep_better(l->peak, threads, rate(team, &multiply, 2.0 * CHAINS * loops->floats * threads));
    for (int level = 0; level < LIMIT_LEVELS; level++) {
        const int windows = level == LEVEL_DRAM ? WINDOWS : 1;
        const size_t n = bytes_to_read(l, (LimitLevel)level, threads, bytes) / windows / (CHUNK * sizeof *buffer) * CHUNK;
        Task read = { .loops = loops, .from = buffer, .floats = n, .way = ways[0], .times = 1, .windows = windows };
        if (n) keep_better(l->bandwidth[level], threads, rate(team, &read, (double)(n * sizeof *buffer)));
    }
}

bool limits_probe(Limits *l, const int *threads, int n)
{
    const Loops *loops = usable_loops();
    rt_team *team = NULL;
    bool ok = true;
    if (!l->isa) find_caches(l);
    l->isa = rt_isa_text(loops->isa);
    const size_t bytes = buffer_bytes(l);
    float *buffer = rt_weights_room(bytes, NULL);
    if (!buffer) return false;
    memset(buffer, 0x3c, bytes);
    for (int i = 0; i < n && ok; i++) {
        ok = rt_team_resize(&team, threads[i]) == RT_OK;
        if (ok) probe_threads(l, loops, team, threads[i], buffer, bytes);
    }
    rt_team_resize(&team, 1);
    free(buffer);
    return ok;
}

LimitLevel limits_level(const Limits *l, double bytes, int threads)
{
    if (bytes <= (double)l->bytes[LEVEL_L2] * threads) return LEVEL_L2;
    return bytes <= (double)l->bytes[LEVEL_L3] && l->bandwidth[LEVEL_L3][threads] > 0 ? LEVEL_L3 : LEVEL_DRAM;
}

double limits_seconds(const Limits *l, double flops, double bytes, LimitLevel from, int threads)
{
    const double computing = flops / l->peak[threads], reading = bytes / l->bandwidth[from][threads];
    return computing > reading ? computing : reading;
}

/* ---- its name --------------------------------------------------------------------------------------------- */

const char *machine_processor(Arena *a)
{
    char line[256];
    const char *name = "";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !*name && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) name = arena_copy(a, colon + 2, strcspn(colon + 2, "\n"));
    }
    if (f) fclose(f);
    return name;
}
