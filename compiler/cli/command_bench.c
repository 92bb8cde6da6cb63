/* command_bench.c: measure every engine on every test of a model, against the machine's limits, and
 * write tables, pictures and a page; with --ablate, measure the gain of each step instead. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ablation.h"
#include "bench.h"
#include "fields.h"
#include "folder.h"
#include "isa.h"
#include "progress.h"
#include "svg.h"

#ifdef __clang__
#define COMPILER_OF_OURS __VERSION__
#else
#define COMPILER_OF_OURS "gcc " __VERSION__
#endif

/* The engines to measure, in this order; the outputs of the others are compared with those of the
 * first. Each row adds an engine or a kernel form. */
typedef struct EngineRow {
    EngineKind kind;
    const char *kernels, *label, *about, *compiler;
    KernelsForm form;
    int64_t pause_ns;
} EngineRow;
static const EngineRow engine_rows_of_bench[] = {
    /* OpenBLAS's threads spin for 2^28 ticks after a call. */
    { ENGINE_GENERIC, "openblas", "generic", "each operation is a call of OpenBLAS or a loop", COMPILER_OF_OURS, KERNELS_LIBRARY, 150000000 },
    { ENGINE_JIT, "library", "jit", "emitted C, compiled in memory by libtcc, with the library's kernels", "libtcc", KERNELS_LIBRARY, 0 },
    { ENGINE_NATIVE, "library", "native", "emitted C, compiled to native code, with the library's kernels", NULL, KERNELS_LIBRARY, 0 },
    { ENGINE_NATIVE, "unrolled", "native unrolled", "plain C for these shapes alone, compiled to native code", NULL, KERNELS_UNROLLED, 0 },
};
enum { ENGINE_ROWS = sizeof engine_rows_of_bench / sizeof *engine_rows_of_bench };

/* The first line that `cc --version` prints; "" if it prints nothing. */
static const char *compiler_version(Arena *a, const char *cc)
{
    char line[200] = "";
    FILE *f = popen(arena_format(a, "%s --version 2>/dev/null", cc), "r");
    if (f && !fgets(line, sizeof line, f)) line[0] = 0;
    if (f) {
        char rest[200];
        while (fgets(rest, sizeof rest, f)) {}
        pclose(f);
    }
    return arena_copy(a, line, strcspn(line, "\n"));
}

/* CFLAGS of the emitted Makefile, and the flags of the instruction sets. */
static const char *compiler_flags(Arena *a, const Plan *p, EmitForm form)
{
    const Pack pack = pack_layout(a, p);
    const char *flags = "";
    int n;
    const EmittedFile *files = emit_files(a, p, pack.identity, pack.head_bytes, form, &n);
    for (int i = 0; i < n; i++) {
        const char *line = strcmp(files[i].name, "Makefile") == 0 ? strstr(files[i].text.data, "\nCFLAGS = ") : NULL;
        if (line) flags = arena_copy(a, line + strlen("\nCFLAGS = "), strcspn(line + 1, "\n") - strlen("CFLAGS = "));
    }
    const char *const *isas = isa_list(a, form.isa, &n);
    for (int i = 0; i < n; i++) flags = arena_format(a, "%s%s%s", flags, *isa_flags(isas[i]) ? " " : "", isa_flags(isas[i]));
    return flags;
}

static bool open_engine(Session *s, Bench *b, const EngineRow *row)
{
    CompileOptions o = s->options;
    const bool native = row->kind == ENGINE_NATIVE;
    const char *cc = o.cc ? o.cc : "cc";
    o.threads = 0;
    o.form.kernels = row->form;
    const int64_t bytes = bench_resident_bytes(), begin = clock_now_ns();
    Engine *e = session_engine_as(s, row->kind, false, &o);
    const int64_t ns = clock_now_ns() - begin, more = bench_resident_bytes() - bytes;
    if (!e) return false;
    b->engines[b->engine_count++] = (BenchEngine){
        .name = engine_name(row->kind), .kernels = row->kernels, .label = row->label, .about = row->about, .engine = e, .pause_ns = row->pause_ns,
        .compile_ns = e->plan->options.target == TARGET_PANELS ? ns : 0, .rss_bytes = more > 0 ? more : 0,
        .compiler = native ? compiler_version(s->arena, cc) : row->compiler,
        .cflags = native ? compiler_flags(s->arena, b->plan, o.form) : "",
    };
    return true;
}

/* Open all engines, or those of one kind; a narrow model has no unrolled kernels. */
static bool open_engines(Session *s, Bench *b, EngineKind only)
{
    b->engines = arena_array(s->arena, ENGINE_ROWS, sizeof *b->engines);
    for (int i = 0; i < ENGINE_ROWS; i++) {
        const EngineRow *row = &engine_rows_of_bench[i];
        if (only && only != row->kind) continue;
        if (row->form == KERNELS_UNROLLED && model_is_narrow(s->model)) continue;
        progress_say("opening %s", row->label);
        if (!open_engine(s, b, row)) return false;
    }
    return true;
}

/* The machine is probed before and after measuring; the better limits are used. */
static bool measure(Session *s, const Options *o, Bench *b)
{
    bench_choose_threads(b, o->threads, o->threads_count);
    b->plan = session_plan(s, TARGET_PANELS, false);
    if (!open_engines(s, b, (EngineKind)o->engine) || !bench_probe(b)) return false;
    bench_tests(b);
    return bench_measure(b) && bench_probe(b);
}

/* ---- the report ----------------------------------------------------------------------------------------------------- */

enum { MOST_DTYPES = 8 };
static const FileKind page_kind = { "<!DOCTYPE html>", "an HTML page", ".html" };

/* Measure the same model with weights of another dtype, in native code only. */
static bool measure_dtype(Session *s, Bench *b, const Bench *first)
{
    if (!session_read(s)) return false;
    b->threads = first->threads;
    b->thread_count = first->thread_count;
    b->limits = first->limits;
    b->plan = session_plan(s, TARGET_PANELS, false);
    if (!open_engines(s, b, ENGINE_NATIVE)) return false;
    bench_tests_like(b, first);
    return bench_measure(b);
}

static void close_engines(Bench *b)
{
    for (int i = 0; i < b->engine_count; i++) engine_close(b->engines[i].engine);
    b->engine_count = 0;
}

/* Write the page of --report. Without --dtype, and unless the model is an xf.graph, the other
 * dtypes are measured first, and the page shows them too. False after an error; *failed is then the
 * session that has the error. */
static bool write_report(Bench *first, const char *path, Session **failed)
{
    Bench others[MOST_DTYPES];
    const Bench *all[MOST_DTYPES + 1] = { first };
    BenchOperations operations = { 0 };
    int words = 0, n = 1;
    const char *const *dtypes = field_words("dtypes", &words);
    bool good = bench_operations(first, &operations);
    *failed = first->session;
    for (int i = 0; i < words && i < DTYPES_FILE && good && !first->session->options.dtype && first->session->model->model_kind != KIND_GRAPH; i++) {
        if (strcmp(dtypes[i], model_dtype(first->session->model)) == 0) continue;
        CompileOptions o = first->session->options;
        o.dtype = dtypes[i];
        Session *s = *failed = session_new(&o);
        Bench *b = &others[n - 1];
        *b = (Bench){ .session = s, .arena = s->arena, .repetitions = first->repetitions, .seconds = first->seconds };
        good = measure_dtype(s, b, first);
        all[n++] = b;
    }
    if (good) {
        *failed = first->session;
        const Text page = bench_report(all, n, &operations);
        good = file_replace(first->arena, first->session->diag, path, page_kind, page.data, page.size);
    }
    for (int i = 1; i < n; i++) {
        close_engines(&others[i - 1]);
        if (others[i - 1].session != *failed) session_free(others[i - 1].session);
    }
    return good;
}

/* A file that `bench` can write besides its table. */
typedef struct BenchOutput { const char *option, *path; FileKind kind; } BenchOutput;
enum { OUTPUTS = 3 };

static void list_outputs(const Options *o, BenchOutput outputs[OUTPUTS])
{
    outputs[0] = (BenchOutput){ "--output", o->output, svg_kind };
    outputs[1] = (BenchOutput){ "--roofline", o->roofline, svg_kind };
    outputs[2] = (BenchOutput){ "--report", o->report, page_kind };
}

/* Check before measuring that all outputs can be written and no two are the same file. */
static bool may_write(Session *s, const Options *o)
{
    BenchOutput outputs[OUTPUTS];
    list_outputs(o, outputs);
    for (int i = 0; i < OUTPUTS; i++)
        for (int k = i + 1; k < OUTPUTS; k++) {
            const BenchOutput *a = &outputs[i], *b = &outputs[k];
            if (!a->path || !b->path || !file_is_same(s->arena, a->path, b->path)) continue;
            diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "%s and %s name the same file, %s",
                       a->option, b->option, b->path);
            return false;
        }
    for (int i = 0; i < OUTPUTS; i++)
        if (outputs[i].path &&
            !file_may_replace(s->arena, s->diag, outputs[i].path, outputs[i].kind))
            return false;
    return true;
}

/* Write the pictures that the options ask for: the chart of all rows, and the roofline for the most
 * threads. */
static void write_pictures(Session *s, const Options *o, const Bench *b)
{
    const Bench *const only = b;
    if (o->output) {
        const Text chart = bench_chart(&only, 1);
        file_replace(s->arena, s->diag, o->output, svg_kind, chart.data, chart.size);
    }
    if (o->roofline) {
        const Text picture = bench_roofline_file(&only, 1, b->threads[b->thread_count - 1]);
        file_replace(s->arena, s->diag, o->roofline, svg_kind, picture.data, picture.size);
    }
}

/* ---- ablation ------------------------------------------------------------------------------------------------------- */

/* The first given option that has no effect with --ablate; NULL if there is none. */
static const char *beside_ablate(const Options *o)
{
    if (o->dtype) return "--dtype";
    if (o->engine) return "--engine";
    if (o->roofline) return "--roofline";
    if (o->tune) return "--tune";
    return o->format && strcmp(option_word_of(OPTION_FORMAT, o->format), "md") != 0 ? "--format" : NULL;
}

static void write_ablation(Session *s, const Options *o, const Ablation *a)
{
    if (o->output) {
        const Text chart = ablation_chart(a);
        file_replace(s->arena, s->diag, o->output, svg_kind, chart.data, chart.size);
    }
    if (o->report) {
        const Text page = ablation_report(a);
        file_replace(s->arena, s->diag, o->report, page_kind, page.data, page.size);
    }
}

static Exit bench_ablate(const Options *o, CompileOptions *compile)
{
    if (beside_ablate(o)) return options_refuse(o, "%s has no effect with --ablate", beside_ablate(o));
    compile->dtype = "f32";
    Ablation a = { .count = 0 };
    Session *s = session_new(compile), *failed = s;
    a.benches[0] = (Bench){ .session = s, .arena = s->arena, .repetitions = o->repetitions ? o->repetitions : 5, .seconds = o->seconds };
    progress_begin("bench", o->quiet);
    if (session_open(s) && may_write(s, o) && ablation_measure(&a, o->threads, o->threads_count, &failed)) {
        progress_clear();
        (o->json ? ablation_print_json : ablation_print)(&a, stdout);
        const char *fault = file_output_fault();
        if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
        write_ablation(s, o, &a);
        ablation_remark(&a);
    }
    progress_end();
    ablation_close(&a, failed);
    if (failed == s) return session_end(s);
    diag_print(s->diag, stderr, diag_colours(2));
    session_free(s);
    return session_end(failed);
}

Exit command_bench(const Options *o)
{
    CompileOptions compile;
    const char *format = o->json ? "json" : o->format ? option_word_of(OPTION_FORMAT, o->format) : "md";
    if (!options_compile(o, &compile)) return EXIT_USAGE;
    if (o->json && o->format && strcmp(option_word_of(OPTION_FORMAT, o->format), "json") != 0)
        return options_refuse(o, "--json and --format %s cannot be combined", option_word_of(OPTION_FORMAT, o->format));
    if (o->ablate) return bench_ablate(o, &compile);
    Session *s = session_new(&compile), *failed = s;
    Bench b = { .session = s, .arena = s->arena, .repetitions = o->repetitions ? o->repetitions : 5,
                .seconds = o->seconds };
    progress_begin("bench", o->quiet);
    if (session_open(s) && may_write(s, o) && measure(s, o, &b)) {
        progress_clear();
        bench_print(&b, format, stdout);
        const char *fault = file_output_fault();
        if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
        write_pictures(s, o, &b);
        bench_remark(&b);
        if (o->report) write_report(&b, o->report, &failed);
    }
    progress_end();
    close_engines(&b);
    if (failed == s) return session_end(s);
    diag_print(s->diag, stderr, diag_colours(2));
    session_free(s);
    return session_end(failed);
}
