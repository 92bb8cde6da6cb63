/* bench_print.c: print rows as a Markdown table, as JSON, as JSON lines, or as CSV.
 *
 * Keys that llama-bench has too, with a corresponding meaning:
 *   build_commit cpu_info backends model_filename model_type model_size model_n_params n_batch
 *   n_ubatch n_threads type_k type_v n_prompt n_gen test_time avg_ns stddev_ns avg_ts stddev_ts
 *   samples_ns samples_ts
 * Other keys:
 *   test engine kernels compiler cflags dtype
 *   compile_ns          plan, emit, pack, compile, load; 0: nothing is compiled
 *   n_source            tokens of the source that is encoded before the test
 *   batch               sentences per run
 *   at_once             sentences per call; encoder-only models
 *   sentences_per_second stddev_sentences_per_second    encoder-only models
 *   runs p50_ns p90_ns p99_ns    single runs; a sample is the median of a repetition's runs
 *   median_ts           median of the repetitions, as in the table
 *   native_ratio        speed / native's, the median of the repetitions' ratios; null: not measured
 *                       next to native
 *   max_abs_err         largest difference of an output from the first engine's; null: not compared
 *   rss_bytes           memory taken to open the engine and run every test once
 *   gflops gbps         achieved, from the median time; gbps counts weights and caches
 *   flops bytes         of one run
 *   limit_pct           100 x least possible time / median time
 *   limit level         "flops" or "bytes", whichever is the limit; the memory level that is read
 *   limit_gflops limit_gbps    limits of the machine
 * JSON is {"rows":[...],"limits":[{n_threads isa gflops l2_gbps l3_gbps dram_gbps}...]}; the
 * bandwidth of a level that was not probed is null. */
#include "bench.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "bench_table.h"
#include "emit_kind.h"

typedef enum FieldKind { FIELD_STRING, FIELD_NUMBER, FIELD_LIST } FieldKind;
typedef struct Field { const char *key; FieldKind kind; const char *text; double number; const double *list; int count; } Field;

enum { MOST_FIELDS = 64 };
typedef struct Fields { Field list[MOST_FIELDS]; int count; } Fields;

static void add(Fields *f, Field field)
{
    if (f->count == MOST_FIELDS) die("more than %d keys", MOST_FIELDS);
    f->list[f->count++] = field;
}

static void add_text(Fields *f, const char *key, const char *text) { add(f, (Field){ .key = key, .kind = FIELD_STRING, .text = text }); }
static void add_number(Fields *f, const char *key, double x) { add(f, (Field){ .key = key, .kind = FIELD_NUMBER, .number = x }); }
static void add_list(Fields *f, const char *key, const double *x, int n)
{
    add(f, (Field){ .key = key, .kind = FIELD_LIST, .list = x, .count = n });
}

/* ---- what a row says -------------------------------------------------------------------------------------- */

static const char *time_text(Arena *a)
{
    const time_t now = time(NULL);
    struct tm t;
    char text[32];
    gmtime_r(&now, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t);
    return arena_text(a, text);
}

static void model_fields(const Bench *b, const BenchRow *r, Fields *f)
{
    const Model *m = b->session->model;
    const BenchTest *t = r->test;
    const bool ready = t->work == BENCH_DECODE;
    add_text(f, "build_commit", XFORMC_VERSION);
    add_text(f, "cpu_info", machine_processor(b->arena));
    add_text(f, "backends", "CPU");
    add_text(f, "model_filename", m->spec_path);
    add_text(f, "model_type", m->name);
    add_number(f, "model_size", (double)b->plan->weights_bytes);
    add_number(f, "model_n_params", (double)model_parameters(m));
    add_number(f, "n_batch", plan_rows(b->plan));
    add_number(f, "n_ubatch", plan_rows(b->plan));
    add_number(f, "n_threads", r->threads);
    add_text(f, "type_k", model_kv_dtype(m));
    add_text(f, "type_v", model_kv_dtype(m));
    add_number(f, "n_prompt", ready ? 0 : t->prompt);
    add_number(f, "n_gen", t->generated);
    add_number(f, "n_source", ready ? t->prompt : 0);
    add_text(f, "test", t->name);
    add_number(f, "batch", t->batch);
    if (bench_by_sentences(b)) add_number(f, "at_once", bench_at_once(t, r->engine->engine));
}

static void engine_fields(const BenchEngine *e, Fields *f)
{
    add_text(f, "engine", e->name);
    add_text(f, "kernels", e->kernels);
    add_text(f, "compiler", e->compiler);
    add_text(f, "cflags", e->cflags);
    add_number(f, "compile_ns", (double)e->compile_ns);
    add_text(f, "dtype", model_dtype(e->engine->plan->graph->model));
    add_number(f, "max_abs_err", e->max_abs_err < 0 ? NAN : e->max_abs_err);
    add_number(f, "rss_bytes", (double)e->rss_bytes);
}

static void speed_fields(const Bench *b, const BenchRow *r, const BenchFigures *x, Fields *f)
{
    add_number(f, "avg_ns", x->avg_ns);
    add_number(f, "stddev_ns", x->stddev_ns);
    add_number(f, "avg_ts", x->avg_ts);
    add_number(f, "stddev_ts", x->stddev_ts);
    add_number(f, "median_ts", x->median_ts);
    add_number(f, "native_ratio", x->by_native);
    add_list(f, "samples_ns", r->samples_ns, r->samples);
    add_list(f, "samples_ts", x->samples_ts, r->samples);
    if (bench_by_sentences(b)) {
        add_number(f, "sentences_per_second", x->median_sentences);
        add_number(f, "stddev_sentences_per_second", x->stddev_sentences);
    }
    add_number(f, "runs", r->runs);
    add_number(f, "p50_ns", x->p50_ns);
    add_number(f, "p90_ns", x->p90_ns);
    add_number(f, "p99_ns", x->p99_ns);
}

static void limit_fields(const Bench *b, const BenchRow *r, const BenchFigures *x, Fields *f)
{
    add_number(f, "flops", r->test->flops);
    add_number(f, "bytes", r->test->bytes);
    add_number(f, "gflops", x->gflops);
    add_number(f, "gbps", x->gbps);
    add_number(f, "limit_pct", x->limit_pct);
    add_text(f, "limit", x->by_flops ? "flops" : "bytes");
    add_text(f, "level", limit_level_names[x->level]);
    add_number(f, "limit_gflops", b->limits.peak[r->threads] / 1e9);
    add_number(f, "limit_gbps", b->limits.bandwidth[x->level][r->threads] / 1e9);
}

static void row_fields(const Bench *b, const BenchRow *r, const char *when, Fields *f)
{
    const BenchFigures x = bench_figures(b, r);
    f->count = 0;
    model_fields(b, r, f);
    engine_fields(r->engine, f);
    add_text(f, "test_time", when);
    speed_fields(b, r, &x, f);
    limit_fields(b, r, &x, f);
}

/* ---- JSON and CSV ----------------------------------------------------------------------------------------- */

static void json_text(const char *s, FILE *to)
{
    fputc('"', to);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fprintf(to, "\\%c", *s);
        else if ((unsigned char)*s < ' ') fprintf(to, "\\u%04x", *s);
        else fputc(*s, to);
    }
    fputc('"', to);
}

static void json_number(double x, FILE *to)
{
    if (isfinite(x)) fprintf(to, "%.*g", x == floor(x) && fabs(x) < 1e15 ? 15 : 9, x);
    else fputs("null", to);
}

static void json_object(const Fields *f, FILE *to)
{
    for (int i = 0; i < f->count; i++) {
        const Field *x = &f->list[i];
        fprintf(to, "%s\"%s\":", i ? "," : "{", x->key);
        if (x->kind == FIELD_STRING) json_text(x->text, to);
        if (x->kind == FIELD_NUMBER) json_number(x->number, to);
        for (int k = 0; x->kind == FIELD_LIST && k < x->count; k++) {
            fputs(k ? "," : "[", to);
            json_number(x->list[k], to);
        }
        if (x->kind == FIELD_LIST) fputs("]", to);
    }
    fputs("}", to);
}

static void print_json_rows(const Bench *b, const char *when, const char *between, FILE *to)
{
    for (int i = 0; i < b->row_count; i++) {
        Fields f;
        row_fields(b, &b->rows[i], when, &f);
        if (i) fputs(between, to);
        json_object(&f, to);
    }
}

static double gbps(const Bench *b, LimitLevel level, int threads)
{
    const double found = b->limits.bandwidth[level][threads];
    return found > 0 ? found / 1e9 : NAN;
}

static void print_json(const Bench *b, const char *when, FILE *to)
{
    fputs("{\"rows\":[", to);
    print_json_rows(b, when, ",\n", to);
    fputs("],\n\"limits\":[", to);
    for (int i = 0; i < b->thread_count; i++) {
        const int n = b->threads[i];
        Fields f = { .count = 0 };
        add_number(&f, "n_threads", n);
        add_text(&f, "isa", b->limits.isa);
        add_number(&f, "gflops", b->limits.peak[n] / 1e9);
        add_number(&f, "l2_gbps", gbps(b, LEVEL_L2, n));
        add_number(&f, "l3_gbps", gbps(b, LEVEL_L3, n));
        add_number(&f, "dram_gbps", gbps(b, LEVEL_DRAM, n));
        if (i) fputs(",", to);
        json_object(&f, to);
    }
    fputs("]}\n", to);
}

static void csv_value(const Field *x, FILE *to)
{
    fputc('"', to);
    for (const char *s = x->kind == FIELD_STRING ? x->text : ""; *s; s++) fprintf(to, *s == '"' ? "\"\"" : "%c", *s);
    if (x->kind == FIELD_NUMBER && isfinite(x->number)) json_number(x->number, to);
    fputc('"', to);
}

/* As in llama-bench: a line of keys, every value quoted, no lists. */
static void print_csv(const Bench *b, const char *when, FILE *to)
{
    Fields f;
    for (int i = -1; i < b->row_count; i++) {
        bool first = true;
        row_fields(b, &b->rows[i < 0 ? 0 : i], when, &f);
        for (int k = 0; k < f.count; k++) {
            if (f.list[k].kind == FIELD_LIST) continue;
            if (!first) fputc(',', to);
            first = false;
            if (i < 0) fputs(f.list[k].key, to);
            else csv_value(&f.list[k], to);
        }
        fputc('\n', to);
    }
}

/* ---- Markdown --------------------------------------------------------------------------------------------- */

const char *bench_size(Arena *a, double bytes)
{
    if (bytes >= 1 << 30) return arena_format(a, "%.2f GiB", bytes / (1 << 30));
    if (bytes >= 1 << 20) return arena_format(a, "%.2f MiB", bytes / (1 << 20));
    return arena_format(a, "%.2f KiB", bytes / (1 << 10));
}

const char *bench_count(Arena *a, double n)
{
    if (n >= 1e9) return arena_format(a, "%.2f B", n / 1e9);
    if (n >= 1e6) return arena_format(a, "%.2f M", n / 1e6);
    return n >= 1e3 ? arena_format(a, "%.2f K", n / 1e3) : arena_format(a, "%.0f", n);
}

const char *bench_spread(Arena *a, double x, double around)
{
    const int places = x >= 100 ? 2 : x >= 1 ? 3 : 5;
    return arena_format(a, "%.*f ± %.*f", places, x, places, around);
}

static const char *share(Arena *a, double percent) { return arena_format(a, "%.1f %%", percent); }

static void row_cells(const Bench *b, const BenchRow *r, const char **cell)
{
    const BenchFigures x = bench_figures(b, r);
    const Model *m = b->session->model;
    Arena *a = b->arena;
    int n = 0;
    const char *kv = m->kv_dtype == KV_DTYPES_F32 ? "" : arena_format(a, ", kv %s", model_kv_dtype(m));
    cell[n++] = arena_format(a, "%s %s%s", m->name, model_dtype(m), kv);
    cell[n++] = bench_size(a, (double)b->plan->weights_bytes);
    cell[n++] = bench_count(a, (double)model_parameters(m));
    cell[n++] = r->engine->label;
    cell[n++] = arena_format(a, "%d", r->threads);
    cell[n++] = r->test->name;
    if (bench_by_sentences(b)) {
        cell[n++] = bench_spread(a, x.median_sentences, x.stddev_sentences);
        cell[n++] = arena_format(a, "%.4g", x.p50_ns / 1e6);
        cell[n++] = arena_format(a, "%.4g", x.p90_ns / 1e6);
        cell[n++] = arena_format(a, "%.4g", x.p99_ns / 1e6);
    } else cell[n++] = bench_spread(a, x.median_ts, x.stddev_ts);
    if (bench_by_native(b)) cell[n++] = isfinite(x.by_native) ? arena_format(a, "%.2f", x.by_native) : "-";
    cell[n++] = share(a, x.limit_pct);
}

static void print_rows(const Bench *b, FILE *to)
{
    static const char *const first[] = { "model", "size", "params", "backend", "threads", "test" };
    static const char *const times[] = { "p50 ms", "p90 ms", "p99 ms" };
    BenchTable t = { .rows = b->row_count + 1, .left = 4 };
    t.cells = arena_array(b->arena, (size_t)t.rows, sizeof *t.cells);
    const char **head = t.cells[0];
    for (int c = 0; c < 6; c++) head[t.columns++] = first[c];
    head[t.columns++] = bench_by_sentences(b) ? "sentences/s" : "t/s";
    for (int c = 0; c < 3 && bench_by_sentences(b); c++) head[t.columns++] = times[c];
    if (bench_by_native(b)) head[t.columns++] = "/ native";
    head[t.columns++] = "limit";
    for (int i = 0; i < b->row_count; i++) row_cells(b, &b->rows[i], t.cells[i + 1]);
    bench_table_print(&t, to);
}

static bool has_generic(const Bench *b)
{
    for (int i = 0; i < b->engine_count; i++)
        if (strcmp(b->engines[i].name, "generic") == 0) return true;
    return false;
}

/* Explain the columns, below the table. */
static void print_legend(const Bench *b, FILE *to)
{
    const BenchTest *last = &b->tests[b->test_count - 1];
    fprintf(to, "\nMedian of %d repetition%s ± standard deviation; the time of a repetition is the median of its runs. ",
            b->repetitions, b->repetitions > 1 ? "s" : "");
    switch (b->session->model->model_kind) {
    case KIND_ENCODER_DECODER:
        fprintf(to, "enc reads %d tokens, dec writes %d after them, e2e does both; t/s counts tokens read and written.\n", last->prompt,
                last->generated);
        break;
    case KIND_DECODER: fputs("ppN reads N tokens, tgN writes N; t/s counts them.\n", to); break;
    case KIND_ENCODER:
        fprintf(to, "\nbBxN reads B sentences of N tokens, as many at once as fit into the longest source%s; p50 to p99 are the times of"
                " such a batch.\n", has_generic(b) ? " (generic: one after the other)" : "");
        break;
    case KIND_GRAPH:   fputs("t/s counts runs.\n", to); break;
    }
    for (int i = 0; i < b->engine_count; i++)
        if (b->engines[i].about) fprintf(to, "%s: %s.\n", b->engines[i].label, b->engines[i].about);
    if (bench_by_native(b)) fputs("/ native: the speed relative to native, the median over repetitions; engines take turns.\n", to);
    fputs("limit: the share of the machine's limit that is reached, for arithmetic or for reading, whichever is nearer. "
          "The limits, probed in this run:\n\n", to);
}

static void print_limits(const Bench *b, FILE *to)
{
    Arena *a = b->arena;
    const Limits *l = &b->limits;
    BenchTable t = { .rows = b->thread_count + 1, .columns = 5, .left = 0 };
    t.cells = arena_array(a, (size_t)t.rows, sizeof *t.cells);
    t.cells[0][0] = "threads";
    t.cells[0][1] = arena_format(a, "FMA %s GFLOP/s", l->isa);
    t.cells[0][2] = arena_format(a, "L2 (%s each) GB/s", bench_size(a, (double)l->bytes[LEVEL_L2]));
    t.cells[0][3] = arena_format(a, "L3 (%s) GB/s", bench_size(a, (double)l->bytes[LEVEL_L3]));
    t.cells[0][4] = "DRAM GB/s";
    for (int i = 0; i < b->thread_count; i++) {
        const int n = b->threads[i];
        t.cells[i + 1][0] = arena_format(a, "%d", n);
        t.cells[i + 1][1] = arena_format(a, "%.1f", l->peak[n] / 1e9);
        for (int level = 0; level < LIMIT_LEVELS; level++)
            t.cells[i + 1][2 + level] = l->bandwidth[level][n] > 0 ? arena_format(a, "%.1f", l->bandwidth[level][n] / 1e9) : "-";
    }
    bench_table_print(&t, to);
}

void bench_print(const Bench *b, const char *format, FILE *to)
{
    const char *when = time_text(b->arena);
    if (strcmp(format, "json") == 0) print_json(b, when, to);
    else if (strcmp(format, "csv") == 0) print_csv(b, when, to);
    else if (strcmp(format, "jsonl") == 0) {
        print_json_rows(b, when, "\n", to);
        fputc('\n', to);
    } else {
        print_rows(b, to);
        print_legend(b, to);
        print_limits(b, to);
    }
}
