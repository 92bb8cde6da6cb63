/* row_times.c: time the linear kernels of one row over f32, bf16, int8 and int4 weights that lie in
 * a cache or in memory, in turn with plain reading of as many bytes in the fastest of four ways.
 * Prints for each size how fast the machine reads, and the share of that speed that each format
 * reaches: medians of all rounds. In the L1 cache, the arithmetic of the kernels is the limit.
 * usage: row_times [THREADS [ROUNDS [KB...]]]
 * KB: sizes of the weights of a thread; default: sizes that lie in the L1, L2 and L3 cache of a Zen 4,
 * and in its memory */
#define RT_KERNEL_SOURCES
#include "kernel_files.def"


#include "measuring.h"
#include "reading.h"

/* No scale or weight of bytes FILL is a subnormal number, infinite or NaN. */
enum { FILL = 0x3C };
/* The kernels are called for matrices of the 15m shape, RUN panels at a time. A plan says that
 * weights of more than CACHED bytes come from memory. */
enum { INPUTS = 288, RUN = 48, CACHED = 32 << 20, TURN_NS = 3000000 };
enum { MOST_THREADS = 64, MOST_ROUNDS = 1000, LEAST_KB = 20, MOST_KB = 4000000 };

typedef struct Work {
    const unsigned char *w;
    size_t bytes;
    int kind, way, times;               /* of `kinds`; of reading; how often a turn reads the weights */
    float *x;
    RtLinear shape;
    RtByteTile tile8, tile4;            /* with the rounded row */
} Work;

/* What a thread writes, in cache lines of its own. */
typedef struct Results { XF_ALIGN(64) float y[16 * RUN]; int64_t sum; } Results;
static Results results[MOST_THREADS];

/* `n` panels at w. */
static void run_f32(const Work *work, const unsigned char *w, int n, Results *to)
{
    RtLinear shape = work->shape;
    shape.in = INPUTS, shape.has_bias = 0, shape.activation = RT_IDENTITY;
    rt_linear_f32(&shape, to->y, work->x, w, 1, 0, n);
}

static void run_bf16(const Work *work, const unsigned char *w, int n, Results *to)
{
    RtLinear shape = work->shape;
    shape.in = INPUTS, shape.has_bias = 0, shape.activation = RT_IDENTITY;
    rt_linear_bf16(&shape, to->y, work->x, w, 1, 0, n);
}

/* int8 and int4: the row was rounded before. */
RT_INLINE void run_bytes(RtByteTile t, const unsigned char *w, int n, Results *to, const int bits)
{
    t.groups = (INPUTS + 31) / 32, t.w_panel = rt_panel_bytes(INPUTS, 0, bits);
    t.has_bias = 0, t.activation = RT_IDENTITY, t.add = NULL;
    t.w = w, t.y = to->y;
    rt_byte_tile_all(t, 1, n, bits);
}

static void run_int8(const Work *work, const unsigned char *w, int n, Results *to) { run_bytes(work->tile8, w, n, to, 8); }
static void run_int4(const Work *work, const unsigned char *w, int n, Results *to) { run_bytes(work->tile4, w, n, to, 4); }

enum { READING, KINDS = 5 };
static const struct Kind {
    const char *name;
    int bits;
    void (*run)(const Work *work, const unsigned char *w, int n, Results *to);
} kinds[KINDS] = {
    { "reading", 0, NULL }, { "f32", 32, run_f32 }, { "bf16", 16, run_bf16 }, { "int8", 8, run_int8 }, { "int4", 4, run_int4 }
};

static size_t panel_of(int kind)
{
    if (kind == READING) return CHUNK;
    return kinds[kind].bits == 32 ? 64 * INPUTS : rt_panel_bytes(INPUTS, 0, kinds[kind].bits);
}

/* One turn of one thread: `times` passes over its share of the panels. */
static void pass(void *job, int thread, int threads)
{
    const Work *work = job;
    const size_t panel = panel_of(work->kind);
    const rt_span mine = rt_split((int)(work->bytes / panel), thread, threads);
    Results *to = &results[thread];
    for (int i = 0; i < work->times; i++) {
        if (work->kind == READING) {
            to->sum += read_in_way(work->way, work->w + (size_t)mine.begin * panel, (size_t)rt_count(mine) * panel);
            continue;
        }
        for (int p = mine.begin; p < mine.end; p += RUN)
            kinds[work->kind].run(work, work->w + (size_t)p * panel, mine.end - p < RUN ? mine.end - p : RUN, to);
    }
}

/* GB/s of one turn. */
static double turn(rt_team *team, Work *work, int kind)
{
    work->kind = kind;
    const size_t panel = panel_of(kind), bytes = work->bytes / panel * panel;
    const int64_t begin = now_ns();
    rt_team_run(team, pass, work);
    return 1e-9 * (double)bytes * work->times / seconds_since(begin);
}

typedef struct Reader { rt_team *team; Work *work; } Reader;

static void read_in(void *context, int way)
{
    const Reader *r = context;
    r->work->way = way;
    turn(r->team, r->work, READING);
}

/* Find the number of passes that take TURN_NS, and the fastest way to read. */
static void settle(rt_team *team, Work *work)
{
    Reader r = { team, work };
    for (work->times = 1; (double)work->bytes * work->times / turn(team, work, READING) < TURN_NS; work->times *= 2) continue;
    work->way = fastest_way(read_in, &r);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return values[n / 2];
}

/* One line: all formats with weights of so many bytes. */
static void measure(rt_team *team, size_t bytes, int rounds, float *x)
{
    static double speeds[KINDS][MOST_ROUNDS];
    static XF_ALIGN(64) float rounded8[2 * INPUTS], rounded4[2 * INPUTS];
    Work work = { .w = room(bytes, LARGE_PAGE, FILL), .bytes = bytes, .x = x,
                  .shape = { .in = INPUTS, .out = 16 * RUN, .x_stride = INPUTS, .y_stride = 16 * RUN } };
    work.shape.one_stream = bytes > CACHED;
    work.tile8 = rt_byte_tile_of(&work.shape, rounded8, x, 1, work.w, 8);
    work.tile4 = rt_byte_tile_of(&work.shape, rounded4, x, 1, work.w, 4);
    settle(team, &work);
    for (int round = -1; round < rounds; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            const double speed = turn(team, &work, kind);
            if (round >= 0) speeds[kind][round] = kind == READING ? speed : speed / speeds[READING][round];
        }
    /* The shares need the speed of reading of their round, so reading is sorted last. */
    printf("%zu KB: reading %.1f GB/s", bytes / 1000, median(speeds[READING], rounds));
    for (int kind = 1; kind < KINDS; kind++) printf(", %s %.0f %%", kinds[kind].name, 100 * median(speeds[kind], rounds));
    puts("");
    fflush(stdout);
    free((void *)(uintptr_t)work.w);
}

int main(int argc, char **argv)
{
    static char *usual[] = { "28", "600", "8000", "300000" };
    const int threads = argc > 1 ? (int)whole_number(argv[1], MOST_THREADS) : 1;
    const int rounds = argc > 2 ? (int)whole_number(argv[2], MOST_ROUNDS) : 30;
    const int sizes = argc > 3 ? argc - 3 : 4;
    char **kb = argc > 3 ? argv + 3 : usual;
    rt_team *team = NULL;
    int valid = threads > 0 && rounds > 0;
    for (int i = 0; i < sizes; i++) valid = valid && whole_number(kb[i], MOST_KB / threads) >= LEAST_KB;
    if (!valid) {
        fputs("usage: row_times [THREADS [ROUNDS [KB...]]]\n", stderr);
        return 2;
    }
    float *x = room(INPUTS * sizeof *x, CACHE_LINE, FILL);
    if (rt_team_resize(&team, threads) != RT_OK) {
        fprintf(stderr, "row_times: no %d threads\n", threads);
        return 69;
    }
    for (int i = 0; i < sizes; i++)
        measure(team, 1000 * (size_t)threads * (size_t)whole_number(kb[i], MOST_KB), rounds, x);
    rt_team_resize(&team, 1);
    free(x);
    return end_output("row_times");
}
