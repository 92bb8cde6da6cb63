/* report_roofline.c: `report_roofline ROWS.json` draws the roofline of the output of `bench --json`
 * and prints it as SVG. The rows are those of one model. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "json_read.h"

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    if (!text) die("no string \"%s\"", key);
    return text;
}

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

/* The label of an engine in `bench`, such as "native unrolled". */
static const char *label_of(Arena *a, const json_t *row)
{
    const char *kernels = text_of(row, "kernels"), *name = text_of(row, "engine");
    return strcmp(kernels, "unrolled") == 0 ? arena_format(a, "%s %s", name, kernels) : name;
}

/* The file names the memory level that holds a test's bytes, but gives no sizes of tests or levels.
 * These made-up sizes lead to the same levels. */
static const double held[LIMIT_LEVELS] = { 1, 1 << 20, 1 << 30 };
static const size_t sizes[LIMIT_LEVELS] = { 1 << 10, 1 << 25 };

static double held_of(const json_t *row)
{
    const char *level = text_of(row, "level");
    for (int k = 0; k < LIMIT_LEVELS; k++)
        if (strcmp(limit_level_names[k], level) == 0) return held[k];
    die("unknown memory level %s", level);
}

static void read_limits(Limits *l, const json_t *list)
{
    static const char *const keys[LIMIT_LEVELS] = { "l2_gbps", "l3_gbps", "dram_gbps" };
    memcpy(l->bytes, sizes, sizeof sizes);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *of = json_array_get(list, i);
        const int threads = (int)number_of(of, "n_threads");
        if (threads < 1 || threads > LIMIT_THREADS) die("limits for %d threads; expected 1 to %d", threads, LIMIT_THREADS);
        l->peak[threads] = 1e9 * number_of(of, "gflops");
        for (int k = 0; k < LIMIT_LEVELS; k++)
            l->bandwidth[k][threads] = 1e9 * number_of(of, keys[k]);
    }
}

static BenchTest *test_of(Bench *b, const json_t *row)
{
    const char *name = text_of(row, "test");
    for (int i = 0; i < b->test_count; i++)
        if (strcmp(b->tests[i].name, name) == 0) return &b->tests[i];
    BenchTest *t = &b->tests[b->test_count++];
    *t = (BenchTest){ .name = name, .work = BENCH_GENERATE, .batch = 1,
                      .prompt = (int)number_of(row, "n_prompt"),
                      .generated = (int)number_of(row, "n_gen"),
                      .flops = number_of(row, "flops"), .bytes = number_of(row, "bytes"),
                      .held = held_of(row) };
    return t;
}

static BenchEngine *engine_of(Bench *b, const json_t *row)
{
    const char *label = label_of(b->arena, row);
    for (int i = 0; i < b->engine_count; i++)
        if (strcmp(b->engines[i].label, label) == 0) return &b->engines[i];
    BenchEngine *e = &b->engines[b->engine_count++];
    *e = (BenchEngine){ .name = text_of(row, "engine"), .label = label };
    return e;
}

static void add_row(Bench *b, const json_t *row)
{
    const json_t *times = json_object_get(row, "samples_ns");
    BenchRow *r = &b->rows[b->row_count++];
    *r = (BenchRow){ .engine = engine_of(b, row), .test = test_of(b, row),
                     .threads = (int)number_of(row, "n_threads"),
                     .samples = (int)json_array_size(times) };
    if (!r->samples) die("a row without \"samples_ns\"");
    r->samples_ns = arena_array(b->arena, (size_t)r->samples, sizeof *r->samples_ns);
    for (int i = 0; i < r->samples; i++)
        r->samples_ns[i] = json_number_value(json_array_get(times, (size_t)i));
    r->runs_ns = r->samples_ns;
    r->runs = r->room = r->samples;
}

enum { MOST_DTYPES = 8 };

/* Find the bench of a row's dtype among the *n in `all`, or add one. */
static Bench *bench_of(Bench *all[MOST_DTYPES], int *n, const json_t *row, size_t rows)
{
    const char *dtype = text_of(row, "dtype");
    for (int i = 0; i < *n; i++)
        if (strcmp(model_dtype(all[i]->session->model), dtype) == 0) return all[i];
    if (*n == MOST_DTYPES) die("more than %d dtypes", MOST_DTYPES);
    const CompileOptions options = { .spec = text_of(row, "model_filename"), .dtype = dtype };
    Session *s = session_new(&options);
    if (!session_read(s)) die("cannot read %s", options.spec);
    Bench *b = all[(*n)++] = arena_alloc(s->arena, sizeof *b);
    *b = (Bench){ .session = s, .arena = s->arena };
    b->rows = arena_array(b->arena, rows, sizeof *b->rows);
    b->tests = arena_array(b->arena, rows, sizeof *b->tests);
    b->engines = arena_array(b->arena, rows, sizeof *b->engines);
    return b;
}

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    Bench *all[MOST_DTYPES];
    int n = 0, most = 0;
    json_t *top = argc == 2 ? json_read_object(a, d, argv[1]) : NULL;
    const json_t *rows = json_object_get(top, "rows");
    if (!json_array_size(rows)) {
        fprintf(stderr, "usage: report_roofline ROWS.json   (the output of bench --json)\n");
        return 2;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        add_row(bench_of(all, &n, row, json_array_size(rows)), row);
        if ((int)number_of(row, "n_threads") > most) most = (int)number_of(row, "n_threads");
    }
    for (int i = 0; i < n; i++) read_limits(&all[i]->limits, json_object_get(top, "limits"));
    fputs(bench_roofline_file((const Bench *const *)all, n, most).data, stdout);
    for (int i = 0; i < n; i++) session_free(all[i]->session);
    json_decref(top);
    arena_free(a);
    return 0;
}
