/* kernel_times.c: time kernels that several compilers compiled for several instruction sets, in
 * turn. Prints the best time of each, and whether all compilers give the same bits for an
 * instruction set. With OPENBLAS defined, OpenBLAS's product is timed on the shapes of the linears.
 * usage: kernel_times [ROUNDS [WORD]]
 * WORD: time only the kernels with WORD in their names, and the peak. Exit status 1: the bits
 * differ. */
#ifdef OPENBLAS
#include <cblas.h>
#endif

#include "kernel_times.h"
#include "measuring.h"

#define SET(name) extern const TimedSet name;
#include "kernel_times_sets.def"
#undef SET
static const TimedSet *const sets[] = {
#define SET(name) &name,
#include "kernel_times_sets.def"
#undef SET
};
enum { SETS = sizeof sets / sizeof *sets };

static Work make_work(void)
{
    Work w = {
        .x = random_floats(ROWS * (DEEP + PAD)), .y = random_floats(ROWS * (WIDE + PAD)), .w = random_floats(DEEP * WIDE),
        .k = random_floats(HEADS * LENGTH * HEAD), .v = random_floats(HEADS * LENGTH * HEAD),
        .scratch = random_floats(RT_ATTENTION_ROWS * (LENGTH + 16)), .table = random_floats(LENGTH * HEAD),
        .logits = random_floats(VOCABULARY), .positions = room(LENGTH * sizeof(int), CACHE_LINE, 0),
        .visible = room(LENGTH * sizeof(int), CACHE_LINE, 0)
    };
    for (int i = 0; i < LENGTH; i++) w.positions[i] = i, w.visible[i] = i + 1;
    return w;
}

static double run_for(const TimedKernel *k, Work *w, int times)
{
    const int64_t begin = now_ns();
    for (int i = 0; i < times; i++) k->run(w);
    return seconds_since(begin) / times;
}

#ifdef OPENBLAS
/* Run OpenBLAS's product with the shape of a linear and row-major weights. */
static void blas(const TimedKernel *k, Work *w)
{
    int rows, in, out;
    if (sscanf(k->name, "linear_%dx%dx%d", &rows, &in, &out) == 3)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1, w->x, DEEP + PAD, w->w, in, 0, w->y, WIDE + PAD);
}

static double blas_for(const TimedKernel *k, Work *w, int times)
{
    const int64_t begin = now_ns();
    for (int i = 0; i < times; i++) blas(k, w);
    return seconds_since(begin) / times;
}
#endif

/* Run a kernel and copy its results: the rows of y without gaps, then `best`. */
static float *results(const TimedKernel *k, Work *w)
{
    const size_t row = (size_t)k->width * sizeof(float);
    char *copy = malloc((size_t)k->rows * row + sizeof w->best);
    if (!copy) exit(69);
    k->run(w);
    for (int r = 0; r < k->rows; r++) memcpy(copy + (size_t)r * row, w->y + (size_t)r * (size_t)k->stride, row);
    memcpy(copy + (size_t)k->rows * row, &w->best, sizeof w->best);
    return (float *)(void *)copy;
}

static int same_bits(const TimedSet *a, const TimedSet *b, int k, Work *w)
{
    float *first = results(&a->kernels[k], w), *second = results(&b->kernels[k], w);
    const int same = memcmp(first, second, (size_t)a->kernels[k].rows * (size_t)a->kernels[k].width * sizeof *first + sizeof w->best) == 0;
    free(first), free(second);
    return same;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? (int)whole_number(argv[1], 1000000) : 100;
    if (rounds < 1 || argc > 3) {
        fputs("usage: kernel_times [ROUNDS [WORD]]\n", stderr);
        return 2;
    }
    double best[SETS + 1];
    Work w = make_work();
    int fault = 0;
#ifdef OPENBLAS
    openblas_set_num_threads(1);
#endif
    printf("%-28s", "us (share of the peak)");
    for (int s = 0; s < SETS; s++) printf("%9s %-9s", sets[s]->compiler, sets[s]->isa);
    puts("  OpenBLAS");
    double peak[SETS] = { 0 };
    for (int k = sets[0]->n - 1; k >= 0; k--) {
        const TimedKernel *first = &sets[0]->kernels[k];
        if (argc > 2 && !strstr(first->name, argv[2]) && strcmp(first->name, "peak")) continue;
        for (int s = 0; s <= SETS; s++) best[s] = 1e9;
        const double once = rt_isa_missing(sets[0]->needs) ? 1e-3 : run_for(first, &w, 3);
        const int times = once < 5e-4 ? (int)(5e-4 / once) + 1 : 1;
        for (int round = 0; round < rounds; round++) {
            for (int s = 0; s < SETS; s++) {
                if (rt_isa_missing(sets[s]->needs)) continue;
                const double t = run_for(&sets[s]->kernels[k], &w, times);
                if (t < best[s]) best[s] = t;
            }
#ifdef OPENBLAS
            if (strncmp(first->name, "linear", 6) == 0) {
                const double t = blas_for(first, &w, times);
                if (t < best[SETS]) best[SETS] = t;
            }
#endif
        }
        printf("%-28s", first->name);
        for (int s = 0; s < SETS; s++) {
            const TimedKernel *kernel = &sets[s]->kernels[k];
            const double rate = kernel->flops / best[s];
            if (best[s] >= 1e9) printf("%9s %9s", "-", "");
            else if (!strcmp(kernel->name, "peak")) printf("%8.1f GF/s     ", 1e-9 * (peak[s] = rate));
            else if (kernel->flops > 0) printf("%9.2f (%4.1f %%) ", 1e6 * best[s], 100 * rate / peak[s]);
            else printf("%9.2f          ", 1e6 * best[s]);
            for (int o = 0; o < s; o++)
                if (!strcmp(sets[o]->isa, sets[s]->isa) && best[s] < 1e9 && !same_bits(sets[o], sets[s], k, &w)) {
                    printf("BITS of %s! ", sets[o]->compiler);
                    fault = 1;
                }
        }
        if (best[SETS] < 1e9) printf("%9.2f", 1e6 * best[SETS]);
        puts("");
        fflush(stdout);
    }
    const int failed = end_output("kernel_times");
    return failed ? failed : fault;
}
