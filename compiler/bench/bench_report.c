/* bench_report.c: write a self-contained HTML page: what was measured, on which machine, and how
 * close to its limit. */
#include "bench.h"
#include "bench_page.h"

#include <string.h>

/* ---- the rows ------------------------------------------------------------------------------------------------------ */

static const char *limit_text(Arena *a, const BenchFigures *f)
{
    return f->by_flops ? arena_format(a, "%.1f GFLOP/s", f->gflops) : arena_format(a, "%.1f GB/s of %s", f->gbps, limit_level_names[f->level]);
}

static void add_row(Text *t, const Bench *b, const BenchRow *r, bool first)
{
    Arena *a = b->arena;
    const BenchFigures f = bench_figures(b, r);
    const bool sentences = bench_by_sentences(b);
    text_add(t, first ? "<tr class=\"first\">" : "<tr>");
    bench_page_cell(t, false, r->test->name);
    bench_page_cell(t, false, r->engine->label);
    bench_page_cell(t, false, model_dtype(b->session->model));
    bench_page_cell(t, true, arena_format(a, "%d", r->threads));
    bench_page_cell(t, true, sentences ? bench_spread(a, f.median_sentences, f.stddev_sentences) : bench_spread(a, f.median_ts, f.stddev_ts));
    bench_page_cell(t, true, arena_format(a, "%.4g", f.p50_ns / 1e6));
    bench_page_cell(t, true, arena_format(a, "%.4g", f.p99_ns / 1e6));
    bench_page_cell(t, true, limit_text(a, &f));
    bench_page_cell(t, true, arena_format(a, "%.1f %%", f.limit_pct));
    text_add(t, "</tr>\n");
}

static void add_rows(Text *t, const Bench *const *benches, int n)
{
    const bool sentences = bench_by_sentences(benches[0]), graph = benches[0]->session->model->model_kind == KIND_GRAPH;
    const char *const heads[] = { "test", "engine", "weights", "|threads", sentences ? "|sentences/s" : graph ? "|runs/s" : "|tokens/s", "|p50 ms",
                                  "|p99 ms", "|reached", "|of the limit" };
    text_add(t, "<h2>Speed</h2>\n");
    text_printf(t, "<p>Engines take turns. Medians of %d repetition%s ± standard deviation; p50 and p99 are of single runs. The share is\n"
                   "relative to the limit probed in the same run, for f32 multiply-adds or for reading, whichever is nearer. Integer\n"
                   "products have a higher limit, so int8 and int4 may exceed 100 %%. So may a test that has the memory to itself,\n"
                   "if the probe had to share it.</p>\n",
                benches[0]->repetitions, benches[0]->repetitions > 1 ? "s" : "");
    bench_page_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < benches[0]->test_count; i++) {
        bool first = true;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < benches[k]->row_count; j++) {
                if (strcmp(benches[k]->rows[j].test->name, benches[0]->tests[i].name) != 0) continue;
                add_row(t, benches[k], &benches[k]->rows[j], first);
                first = false;
            }
    }
    text_add(t, "</table></div>\n");
}

/* ---- operations ---------------------------------------------------------------------------------------------------- */

/* encoder.{}.norm -> encoder.*.norm */
static const char *any_layer(Arena *a, const char *name)
{
    const char *place = name ? strstr(name, "{}") : NULL;
    return place ? arena_format(a, "%.*s*%s", (int)(place - name), name, place + 2) : name ? name : "";
}

static void add_operations(Text *t, const Bench *b, const BenchOperations *o)
{
    const char *const heads[] = { "operation", "tensor", "|calls", "|µs", "|of all", "", "|GFLOP/s", "|GB/s of weights" };
    Arena *a = b->arena;
    text_printf(t, "<h2>Time of each operation</h2>\n<p>One run of <b>%s</b> by the jit on one thread, with %s weights, all layers together,\n"
                   "%.3f ms in all; reading the clock is included, about 40 ns a call.</p>\n",
                o->test->name, model_dtype(b->session->model), (double)o->ns / 1e6);
    bench_page_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < o->count; i++) {
        const BenchOperation *x = &o->list[i];
        const double part = o->ns ? 100.0 * (double)x->ns / (double)o->ns : 0, ns = x->ns > 0 ? (double)x->ns : 1;
        text_add(t, "<tr>");
        bench_page_cell(t, false, x->kernel);
        bench_page_cell(t, false, any_layer(a, x->tensor));
        bench_page_cell(t, true, arena_format(a, "%d", x->calls));
        bench_page_cell(t, true, arena_format(a, "%.1f", (double)x->ns / 1e3));
        bench_page_cell(t, true, arena_format(a, "%.1f %%", part));
        text_printf(t, "<td class=\"bar\"><div style=\"width: %.1f%%\"></div></td>", part);
        bench_page_cell(t, true, x->flops > 0 ? arena_format(a, "%.1f", x->flops / ns) : "");
        bench_page_cell(t, true, x->bytes > 0 ? arena_format(a, "%.1f", x->bytes / ns) : "");
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n");
}

/* ---- the page ------------------------------------------------------------------------------------------------------ */

/* "264 GFLOP/s, L2 390 GB/s, L3 175 GB/s, DRAM 20 GB/s" */
static void add_limits(Text *t, const Limits *l, int threads)
{
    text_printf(t, "%.0f GFLOP/s", l->peak[threads] / 1e9);
    for (int i = 0; i < LIMIT_LEVELS; i++)
        if (l->bandwidth[i][threads] > 0)
            text_printf(t, ", %s %.0f GB/s", limit_level_names[i], l->bandwidth[i][threads] / 1e9);
}

static void add_key(Text *t, const Bench *const *benches, int n)
{
    text_add(t, "<ul class=\"key\">\n");
    for (int k = 0, number = 0; k < n; k++)
        for (int i = 0; i < benches[k]->engine_count; i++) {
            text_printf(t, "<li><i style=\"background:%s\"></i>", bench_colour(number++).edge);
            bench_add_text(t, benches[k]->engines[i].label);
            text_printf(t, ", %s</li>\n", model_dtype(benches[k]->session->model));
        }
    text_add(t, "</ul>\n");
}

/* A roofline for each number of threads, the last number first and expanded. Each is drawn in two
 * widths, of which the page shows one. */
static void add_rooflines(Text *t, const Bench *const *benches, int n)
{
    enum { WIDE = 990, NARROW = 350 };
    const Bench *b = benches[0];
    text_add(t, "<h2>How near to the limit</h2>\n"
                "<p>On a slope, the full bandwidth of a memory level is used; on the flat\n"
                "roof, the full rate of f32 multiply-adds. Both were probed in the same run.</p>\n");
    add_key(t, benches, n);
    for (int i = b->thread_count - 1; i >= 0; i--) {
        const int threads = b->threads[i];
        const char *open = i + 1 == b->thread_count ? " open" : "";
        text_printf(t, "<details%s><summary>%d thread%s: ", open, threads, threads > 1 ? "s" : "");
        add_limits(t, &b->limits, threads);
        text_add(t, "</summary>\n<div class=\"wide\">\n");
        text_add(t, bench_roofline(benches, n, threads, WIDE).data);
        text_add(t, "</div>\n<div class=\"narrow\">\n");
        text_add(t, bench_roofline(benches, n, threads, NARROW).data);
        text_add(t, "</div>\n</details>\n");
    }
}

static void add_compilers(Text *t, const Bench *b)
{
    const char *const heads[] = { "engine", "compiler", "|opened in ms", "|largest difference", "flags" };
    text_add(t, "<h2>Engines</h2>\n<p>Differences are between an engine's outputs and those of the first engine.</p>\n");
    bench_page_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < b->engine_count; i++) {
        const BenchEngine *e = &b->engines[i];
        text_add(t, "<tr>");
        bench_page_cell(t, false, e->label);
        bench_page_cell(t, false, e->compiler);
        bench_page_cell(t, true, e->compile_ns ? arena_format(b->arena, "%.1f", (double)e->compile_ns / 1e6) : "");
        bench_page_cell(t, true, e->max_abs_err < 0 ? "" : arena_format(b->arena, "%.1e", e->max_abs_err));
        bench_page_cell(t, false, e->cflags);   /* last, since it is the longest: a narrow page scrolls to it */
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n");
}

Text bench_report(const Bench *const *benches, int n, const BenchOperations *operations)
{
    const Bench *b = benches[0];
    const Model *m = b->session->model;
    Text t = text_new(b->arena);
    bench_page_begin(&t, arena_format(b->arena, "%s: speed", m->name), m->name);
    text_printf(&t, "<p>%s parameters", bench_count(b->arena, (double)model_parameters(m)));
    for (int k = 0; k < n; k++)
        text_printf(&t, "%s %s of weights as %s", k ? "," : ";", bench_size(b->arena, (double)benches[k]->plan->weights_bytes),
                    model_dtype(benches[k]->session->model));
    text_add(&t, ".</p>\n");
    bench_page_machine(&t, b);
    text_add(&t, "<h2>By engine and weights</h2>\n");
    bench_bars(&t, benches, n);
    add_rooflines(&t, benches, n);
    add_rows(&t, benches, n);
    if (operations->count) add_operations(&t, b, operations);
    add_compilers(&t, b);
    bench_page_end(&t);
    return t;
}
