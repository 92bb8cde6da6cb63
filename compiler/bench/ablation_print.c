/* ablation_print.c: print an Ablation as tables, one of the steps and one for each test, or as
 * JSON. */
#include "ablation.h"

#include <math.h>
#include <string.h>

#include "bench_table.h"
#include "json_text.h"

static const char *compile_text(Arena *a, const Engine *e)
{
    if (!e->phases.code_bytes) return "-";
    return e->phases.compiled_before ? "cached" : arena_format(a, "%.1f s", (double)e->phases.compile_ns / 1e9);
}

static const char *code_text(Arena *a, const Engine *e)
{
    return e->phases.code_bytes ? bench_size(a, (double)e->phases.code_bytes) : "-";
}

static const char *distance_text(Arena *a, const AblationStep *s)
{
    const double x = ablation_distance(s);
    return isnan(x) ? "-" : x == 0 ? "0" : arena_format(a, "%.1e", x);
}

static void print_steps(const Ablation *a, FILE *to)
{
    static const char *const heads[] = { "step", "what is new", "code", "compile", "weights", "distance" };
    Arena *arena = a->benches[0].arena;
    BenchTable t = { .rows = a->count + 1, .columns = sizeof heads / sizeof *heads, .left = 2 };
    t.cells = arena_array(arena, (size_t)t.rows, sizeof *t.cells);
    for (int c = 0; c < t.columns; c++) t.cells[0][c] = heads[c];
    for (int i = 0; i < a->count; i++) {
        const AblationStep *s = &a->steps[i];
        const char **cell = t.cells[i + 1];
        int n = 0;
        cell[n++] = s->name;
        cell[n++] = s->change;
        cell[n++] = code_text(arena, s->engine->engine);
        cell[n++] = compile_text(arena, s->engine->engine);
        cell[n++] = bench_size(arena, (double)s->bench->plan->weights_bytes);
        cell[n++] = distance_text(arena, s);
    }
    bench_table_print(&t, to);
}

/* The tokens of one run of a test; 1 for an xf.graph. */
static double tokens_of(const Ablation *a, int test, int step)
{
    const AblationStep *s = &a->steps[step];
    const BenchRow *r = ablation_row(a, test, step);
    const BenchFigures f = bench_figures(s->bench, r);
    return f.samples_ts[0] * r->samples_ns[0] / 1e9;
}

static void print_test(const Ablation *a, int test, FILE *to)
{
    static const char *const heads[] = { "step", "t/s", "vs before", "vs generic", "FLOPs/t", "bytes/t", "limit" };
    const Bench *first = &a->benches[0];
    Arena *arena = first->arena;
    BenchTable t = { .rows = a->count + 1, .columns = sizeof heads / sizeof *heads, .left = 1 };
    t.cells = arena_array(arena, (size_t)t.rows, sizeof *t.cells);
    for (int c = 0; c < t.columns; c++) t.cells[0][c] = heads[c];
    for (int i = 0; i < a->count; i++) {
        const AblationStep *s = &a->steps[i];
        const BenchRow *r = ablation_row(a, test, i);
        const BenchFigures f = bench_figures(s->bench, r);
        const double tokens = tokens_of(a, test, i);
        const char **cell = t.cells[i + 1];
        int n = 0;
        cell[n++] = s->name;
        cell[n++] = bench_number(arena, f.median_ts);
        cell[n++] = i ? arena_format(arena, "%.2f", ablation_ratio(a, test, i, i - 1)) : "-";
        cell[n++] = arena_format(arena, "%.2f", ablation_ratio(a, test, i, 0));
        cell[n++] = bench_count(arena, r->test->flops / tokens);
        cell[n++] = bench_size(arena, r->test->bytes / tokens);
        cell[n++] = arena_format(arena, "%.0f %%", f.limit_pct);
    }
    fprintf(to, "\n%s\n\n", bench_test_text(arena, &first->tests[test]));
    bench_table_print(&t, to);
}

static bool same_engine(const AblationStep *x, const AblationStep *y)
{
    return strcmp(x->engine->name, y->engine->name) == 0 && strcmp(x->engine->kernels, y->engine->kernels) == 0 && strcmp(x->isa, y->isa) == 0;
}

const char *ablation_engines(const Ablation *a, Arena *arena)
{
    Text t = text_new(arena);
    for (int i = 0, end; i < a->count; i = end) {
        const AblationStep *s = &a->steps[i];
        for (end = i + 1; end < a->count && same_engine(s, &a->steps[end]);) end++;
        if (!*s->isa) continue;             /* generic */
        text_printf(&t, "%s%s", t.size ? "; " : "", s->name);
        if (end > i + 1) text_printf(&t, " to %s", a->steps[end - 1].name);
        text_printf(&t, ": %s%s, %s", s->engine->name, strcmp(s->engine->kernels, "unrolled") == 0 ? " unrolled" : "", s->isa);
    }
    return t.data;
}

void ablation_print(const Ablation *a, FILE *to)
{
    const Bench *first = &a->benches[0];
    fprintf(to, "%s: from \"constant shapes\" on, each step keeps what the steps before it changed, except the dtype.\n\n",
            first->session->model->name);
    print_steps(a, to);
    for (int t = 0; t < first->test_count; t++) print_test(a, t, to);
    fprintf(to, "\ncode: the instructions of the compiled library. distance: the largest difference of the\n"
                "outputs from those of the step before, divided by their largest absolute value. t/s: the\n"
                "median of %d repetition%s; steps take turns. vs: the speed relative to the step before or\n"
                "to generic, the median over repetitions. limit: the share that is reached of this\n"
                "machine's limit with as many threads, for arithmetic or for reading, whichever is nearer.\n"
                "Arithmetic is that of f32; products of integers have a higher limit, so int8 and int4 may\n"
                "exceed 100 %%.\n",
            first->repetitions, first->repetitions > 1 ? "s" : "");
    fprintf(to, "\ngeneric: each operation is a call of OpenBLAS or a loop. native: emitted C, compiled to\n"
                "native code, with the library's kernels; unrolled: plain C for these shapes alone.\n%s.\n",
            ablation_engines(a, first->arena));
    for (int i = 0; i < a->left_count; i++) fprintf(to, "%s%s.\n", i ? "" : "\nLeft out:\n", arena_format(first->arena, "- %s", a->left_out[i]));
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void key(Text *t, const char *name)
{
    if (t->size && t->data[t->size - 1] != '{') text_add(t, ",");
    json_add_string(t, name);
    text_add(t, ":");
}

static void text_member(Text *t, const char *name, const char *value)
{
    key(t, name);
    json_add_string(t, value);
}

static void number_member(Text *t, const char *name, double value)
{
    key(t, name);
    json_add_number(t, value);
}

static void json_step(Text *t, const AblationStep *s)
{
    const EnginePhases *p = &s->engine->engine->phases;
    text_add(t, "{");
    text_member(t, "step", s->name);
    text_member(t, "change", s->change);
    text_member(t, "engine", s->engine->name);
    text_member(t, "kernels", s->engine->kernels);
    text_member(t, "isa", s->isa);
    text_member(t, "dtype", model_dtype(s->bench->session->model));
    key(t, "fused");
    text_add(t, s->engine->engine->plan->options.target == TARGET_PANELS && !s->engine->engine->plan->options.unfused ? "true" : "false");
    number_member(t, "n_threads", s->threads);
    number_member(t, "compile_ns", p->compiled_before || !p->code_bytes ? NAN : (double)p->compile_ns);
    number_member(t, "code_bytes", p->code_bytes ? (double)p->code_bytes : NAN);
    number_member(t, "weights_bytes", (double)s->bench->plan->weights_bytes);
    number_member(t, "distance", ablation_distance(s));
    text_add(t, "}");
}

static void json_row(Text *t, const Ablation *a, int test, int step)
{
    const AblationStep *s = &a->steps[step];
    const BenchRow *r = ablation_row(a, test, step);
    const BenchFigures f = bench_figures(s->bench, r);
    text_add(t, "{");
    text_member(t, "test", r->test->name);
    text_member(t, "step", s->name);
    number_member(t, "n_threads", s->threads);
    number_member(t, "median_ts", f.median_ts);
    number_member(t, "ratio_before", step ? ablation_ratio(a, test, step, step - 1) : NAN);
    number_member(t, "ratio_generic", ablation_ratio(a, test, step, 0));
    number_member(t, "flops", r->test->flops);
    number_member(t, "bytes", r->test->bytes);
    number_member(t, "limit_pct", f.limit_pct);
    text_member(t, "limit", f.by_flops ? "flops" : "bytes");
    text_member(t, "level", limit_level_names[f.level]);
    key(t, "samples_ns");
    for (int i = 0; i < r->samples; i++) {
        text_add(t, i ? "," : "[");
        json_add_number(t, r->samples_ns[i]);
    }
    text_add(t, "]}");
}

void ablation_print_json(const Ablation *a, FILE *to)
{
    Text t = text_new(a->benches[0].arena);
    text_add(&t, "{\"steps\":[");
    for (int i = 0; i < a->count; i++) {
        if (i) text_add(&t, ",\n");
        json_step(&t, &a->steps[i]);
    }
    text_add(&t, "],\n\"rows\":[");
    for (int test = 0; test < a->benches[0].test_count; test++)
        for (int i = 0; i < a->count; i++) {
            if (test || i) text_add(&t, ",\n");
            json_row(&t, a, test, i);
        }
    text_add(&t, "],\n\"left_out\":[");
    for (int i = 0; i < a->left_count; i++) {
        if (i) text_add(&t, ",");
        json_add_string(&t, a->left_out[i]);
    }
    text_add(&t, "]}\n");
    fwrite(t.data, 1, t.size, to);
}
