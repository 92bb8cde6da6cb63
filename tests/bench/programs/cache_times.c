/* cache_times.c: time single-row attention over f32, f16 and int8 caches, in turn, on one thread.
 * Prints the best time per layer for each, and its ratio to the time for f32.
 * usage: cache_times POSITIONS HEADS KV_HEADS WIDTH LAYERS [ROUNDS] */
#define RT_KERNEL_SOURCES
#include "kernel_files.def"

#include "measuring.h"

typedef struct Work {
    RtAttention shape;
    RtCache cache;
    int seen, layers;
    size_t head;                    /* elements of a head's keys or values in one layer, including int8 scales */
    float *q, *out, *scratch;
} Work;

/* Fill the caches of all layers in one format, and run the attention of all layers over them. */
#define CACHE(format, number)                                                                           \
    static void *fill_##format(const Work *w, const float *x, const int *positions)                     \
    {                                                                                                   \
        const size_t layer = (size_t)w->cache.heads * w->head;                                          \
        number *kv = room(2 * (size_t)w->layers * layer * sizeof *kv, CACHE_LINE, 0);                   \
        for (int i = 0; i < w->layers; i++) {                                                           \
            number *k = kv + 2 * (size_t)i * layer;                                                     \
            rt_store_k_##format(&w->cache, k, x, positions, w->seen, 0, w->cache.heads);                \
            rt_store_v_##format(&w->cache, k + layer, x, positions, w->seen, 0, w->cache.heads);        \
        }                                                                                               \
        return kv;                                                                                      \
    }                                                                                                   \
    static void run_##format(const Work *w, const void *caches)                                         \
    {                                                                                                   \
        const size_t layer = (size_t)w->cache.heads * w->head;                                          \
        for (int i = 0; i < w->layers; i++) {                                                           \
            const number *k = (const number *)caches + 2 * (size_t)i * layer;                           \
            rt_attention_##format(&w->shape, w->out, w->q, k, k + layer, w->scratch, NULL, &w->seen, 1, \
                                  0, w->shape.heads);                                                   \
        }                                                                                               \
    }
CACHE(f32, float)
CACHE(f16, rt_f16)
CACHE(int8, int8_t)

static const struct Kind {
    const char *name;
    void *(*fill)(const Work *w, const float *x, const int *positions);
    void (*run)(const Work *w, const void *caches);
} kinds[] = { { "f32", fill_f32, run_f32 }, { "f16", fill_f16, run_f16 }, { "int8", fill_int8, run_int8 } };
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int argc, char **argv)
{
    static const int most[] = { 65536, 1024, 1024, 1024, 1024, 1000000 };
    int n[] = { 0, 0, 0, 0, 0, 25 }, valid = argc == 6 || argc == 7;
    for (int i = 1; i < argc && valid; i++) valid = (n[i - 1] = (int)whole_number(argv[i], most[i - 1])) > 0;
    const int seen = n[0], heads = n[1], kv_heads = n[2], width = n[3], layers = n[4], rounds = n[5];
    if (!valid || heads % kv_heads) {
        fputs("usage: cache_times POSITIONS HEADS KV_HEADS WIDTH LAYERS [ROUNDS]\n", stderr);
        return 2;
    }
    const int capacity = (seen + 15) / 16 * 16, padded = (width + 15) / 16 * 16;
    const Work w = {
        .shape = { .heads = heads, .kv_heads = kv_heads, .d_k = width, .d_v = width, .capacity = capacity,
                   .q_stride = heads * width, .out_stride = heads * width, .scale = 0.125f },
        .cache = { kv_heads, width, capacity, kv_heads * width }, .seen = seen, .layers = layers,
        .head = (size_t)capacity * (size_t)(padded + 4),
        .q = random_floats((size_t)(heads * width)), .out = random_floats((size_t)(heads * width)),
        .scratch = random_floats((size_t)RT_ATTENTION_ROWS * (size_t)(capacity + 16 + padded))
    };
    const float *x = random_floats((size_t)seen * (size_t)(kv_heads * width));
    int *positions = room((size_t)seen * sizeof *positions, CACHE_LINE, 0);
    void *caches[KINDS];
    double best[KINDS];
    for (int i = 0; i < seen; i++) positions[i] = i;
    for (int k = 0; k < KINDS; k++) caches[k] = kinds[k].fill(&w, x, positions), best[k] = 1e9;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < KINDS; k++) {
            const int64_t begin = now_ns();
            kinds[k].run(&w, caches[k]);
            const double took = seconds_since(begin) / layers;
            if (took < best[k]) best[k] = took;
        }
    for (int k = 0; k < KINDS; k++) printf("%-4s %8.1f us a layer, %.2f\n", kinds[k].name, 1e6 * best[k], best[k] / best[0]);
    return end_output("cache_times");
}
