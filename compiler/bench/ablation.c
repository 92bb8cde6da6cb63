/* ablation.c: open the forms of ablation.h one after the other and measure them in turn. */
#include "ablation.h"

#include <math.h>
#include <string.h>

#include "fields.h"
#include "isa.h"
#include "progress.h"

/* The f32 forms, in order. Forms that no engine offers are listed in left_out. */
typedef struct Form {
    const char *name, *change;
    EngineKind kind;
    KernelsForm kernels;
    const char *isa;                /* NULL: that of --isa, or else the best of this machine */
    bool unfused;
    int64_t pause_ns;
} Form;
enum { GENERIC, CONSTANT_SHAPES, TILES, VECTORS, FUSION, FORMS };
static const Form forms[FORMS] = {
    [GENERIC] = { "generic", "each operation is a call of OpenBLAS or a plain loop", ENGINE_GENERIC, KERNELS_LIBRARY, NULL, false, 150000000 },
    [CONSTANT_SHAPES] = { "constant shapes", "plain C with shapes as constants, weights in panels", ENGINE_NATIVE, KERNELS_UNROLLED, "portable",
                          true, 0 },
    [TILES] = { "tiles", "kernels for several rows and panels, in vectors of four", ENGINE_NATIVE, KERNELS_LIBRARY, "portable", true, 0 },
    [VECTORS] = { "vectors", "the vectors of this processor", ENGINE_NATIVE, KERNELS_LIBRARY, NULL, true, 0 },
    [FUSION] = { "fusion", "sums, activations and gates fused into linears; linears with the same input merged", ENGINE_NATIVE,
                 KERNELS_LIBRARY, NULL, false, 0 },
};

static void leave_out(Ablation *a, const char *what) { a->left_out[a->left_count++] = what; }

/* Open an engine on a bench's session, and append it as a step. */
static bool open_step(Ablation *a, Bench *b, const Form *f, const char *name, const char *change, int threads)
{
    Session *s = b->session;
    CompileOptions o = s->options;
    int n;
    o.threads = 0;
    o.unfused = f->unfused;
    o.form.kernels = f->kernels;
    o.cached = !o.cc;
    if (f->isa) o.form.isa = f->isa;
    progress_say("opening %s", name);
    const int64_t bytes = bench_resident_bytes();
    Engine *e = session_engine_as(s, f->kind, false, &o);
    const int64_t more = bench_resident_bytes() - bytes;
    if (!e) return false;
    AblationStep *step = &a->steps[a->count++];
    *step = (AblationStep){ .name = name, .change = change, .isa = "", .bench = b, .engine = &b->engines[b->engine_count++],
                            .threads = threads };
    *step->engine = (BenchEngine){ .name = engine_name(f->kind), .kernels = f->kernels == KERNELS_UNROLLED ? "unrolled" : "library",
                                   .label = name, .engine = e, .pause_ns = f->pause_ns, .compile_ns = e->phases.compile_ns,
                                   .rss_bytes = more > 0 ? more : 0 };
    if (f->kind == ENGINE_NATIVE) step->isa = isa_list(b->arena, o.form.isa, &n)[0];
    return true;
}

static bool open_f32(Ablation *a)
{
    Bench *b = &a->benches[0];
    const char *requested = b->session->options.form.isa, *isa = requested ? requested : "native";
    b->plan = session_plan(b->session, TARGET_PANELS, false);
    b->engines = arena_array(b->arena, ABLATION_STEPS, sizeof *b->engines);
    for (int i = 0; i < FORMS; i++) {
        const char *change = forms[i].change;
        if (i == VECTORS && strcmp(isa, "portable") == 0) {
            leave_out(a, "vectors: --isa portable has only those of tiles");
            continue;
        }
        if (i == VECTORS && strcmp(isa, "native") != 0) change = arena_format(b->arena, "the vectors of --isa %s", isa);
        if (!open_step(a, b, &forms[i], forms[i].name, change, 1)) return false;
    }
    leave_out(a, "emitted C with shapes at run time: it would need an emitter of its own");
    leave_out(a, "weights by rows in emitted C: all kernels read panels");
    return true;
}

/* Open the form `fusion` again, for `threads` threads; if that is 1, list the step in left_out. */
static bool open_threads(Ablation *a, int threads)
{
    Bench *b = &a->benches[0];
    if (threads > 1)
        return open_step(a, b, &forms[FUSION], "threads", arena_format(b->arena, "%d threads", threads), threads);
    leave_out(a, "threads: only one processor is available, or only one thread was requested");
    return true;
}

/* Open the form `fusion` on the same model with weights of another dtype. */
static bool open_dtype(Ablation *a, const char *dtype, int threads, Session **failed)
{
    const Bench *first = &a->benches[0];
    CompileOptions o = first->session->options;
    Bench *b = &a->benches[a->bench_count++];
    o.dtype = dtype;
    Session *s = *failed = session_new(&o);
    *b = (Bench){ .session = s, .arena = s->arena, .repetitions = first->repetitions };
    if (!session_read(s)) return false;
    b->plan = session_plan(s, TARGET_PANELS, false);
    b->engines = arena_array(b->arena, 1, sizeof *b->engines);
    return open_step(a, b, &forms[FUSION], dtype, arena_format(b->arena, "weights in %s", dtype), threads);
}

static bool open_dtypes(Ablation *a, int threads, Session **failed)
{
    int words = 0;
    const char *const *dtypes = field_words("dtypes", &words);
    if (a->benches[0].session->model->model_kind == KIND_GRAPH) {
        leave_out(a, "dtypes: an xf.graph sets its own");
        return true;
    }
    for (int i = 1; i < DTYPES_FILE; i++)
        if (!open_dtype(a, dtypes[i], threads, failed)) return false;
    return true;
}

/* Drop e2e, which repeats enc and dec, and unusual batches of sentences: those of more than 8, and
 * those whose length is not the longest one up to USUAL. */
static void keep_usual_tests(Bench *b)
{
    enum { USUAL = 128 };
    int kept = 0, longest = 0;
    for (int i = 0; i < b->test_count; i++)
        if (b->tests[i].prompt <= USUAL && b->tests[i].prompt > longest) longest = b->tests[i].prompt;
    for (int i = 0; i < b->test_count; i++) {
        const BenchTest t = b->tests[i];
        const bool usual = t.work != BENCH_SENTENCES || (t.batch <= 8 && t.prompt == longest);
        if (t.work != BENCH_BOTH && usual) b->tests[kept++] = t;
    }
    b->test_count = kept;
}

static void choose_tests(Ablation *a)
{
    Bench *b = &a->benches[0];
    const int engines = b->engine_count, threads = b->thread_count;
    b->engine_count = a->count;
    b->thread_count = 1;
    bench_tests(b);
    keep_usual_tests(b);
    b->engine_count = engines;
    b->thread_count = threads;
    for (int i = 1; i < a->bench_count; i++) bench_tests_like(&a->benches[i], b);
}

static bool try_steps(Ablation *a, Session **failed)
{
    for (int i = 0; i < a->count; i++) {
        AblationStep *s = &a->steps[i];
        progress_say("comparing %s", s->name);
        *failed = s->bench->session;
        if (!engine_start_threads(s->bench->session->diag, s->engine->engine, s->threads)) return false;
        if (!bench_try(s->bench, s->engine, i ? a->steps[i - 1].engine : NULL)) return false;
    }
    return true;
}

static bool measure_tests(Ablation *a)
{
    Bench *b = &a->benches[0];
    a->rows = arena_array(b->arena, (size_t)(b->test_count * a->count), sizeof *a->rows);
    for (int t = 0; t < b->test_count; t++) {
        BenchRow *rows = &a->rows[t * a->count];
        for (int i = 0; i < a->count; i++) {
            const AblationStep *s = &a->steps[i];
            rows[i] = (BenchRow){ .engine = s->engine, .test = &s->bench->tests[t], .threads = s->threads };
        }
        if (!bench_turns(b, rows, a->count)) return false;
    }
    return true;
}

/* Set the numbers of threads to 1 and the largest that bench_choose_threads chooses; returns the
 * latter. */
static int most_threads(Bench *b, const int *asked, int n)
{
    bench_choose_threads(b, asked, n);
    int *two = arena_array(b->arena, 2, sizeof *two), most = 1;
    for (int i = 0; i < b->thread_count; i++)
        if (b->threads[i] > most) most = b->threads[i];
    two[0] = 1, two[1] = most;
    b->threads = two;
    b->thread_count = most > 1 ? 2 : 1;
    return most;
}

bool ablation_measure(Ablation *a, const int *asked, int n, Session **failed)
{
    Bench *b = &a->benches[0];
    *failed = b->session;
    a->bench_count = 1;
    const int threads = most_threads(b, asked, n);
    if (!open_f32(a) || !open_threads(a, threads) || !open_dtypes(a, threads, failed)) return false;
    *failed = b->session;
    if (!bench_probe(b)) return false;
    choose_tests(a);
    if (!try_steps(a, failed)) return false;
    *failed = b->session;
    if (!measure_tests(a) || !bench_probe(b)) return false;
    for (int i = 1; i < a->bench_count; i++) a->benches[i].limits = b->limits;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->steps[i].isa, "native") == 0) a->steps[i].isa = b->limits.isa;
    return true;
}

void ablation_close(Ablation *a, const Session *kept)
{
    for (int i = 0; i < a->count; i++) engine_close(a->steps[i].engine->engine);
    for (int i = 1; i < a->bench_count; i++)
        if (a->benches[i].session != kept) session_free(a->benches[i].session);
}

const BenchRow *ablation_row(const Ablation *a, int test, int step) { return &a->rows[test * a->count + step]; }

double ablation_ratio(const Ablation *a, int test, int step, int other)
{
    const BenchRow *r = ablation_row(a, test, step), *o = ablation_row(a, test, other);
    const int n = r->samples < o->samples ? r->samples : o->samples;
    double *ratios = arena_array(a->benches[0].arena, (size_t)n + 1, sizeof *ratios);
    for (int i = 0; i < n; i++) ratios[i] = o->samples_ns[i] / r->samples_ns[i];
    return bench_median(a->benches[0].arena, ratios, n);
}

double ablation_distance(const AblationStep *s)
{
    if (s->engine->max_abs_err < 0) return NAN;
    return s->engine->largest > 0 ? s->engine->max_abs_err / s->engine->largest : s->engine->max_abs_err;
}
