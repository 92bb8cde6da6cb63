/* bench_report.c: a page of HTML that stands alone: what was measured, where, and how near to the machine's limit. */
#include "bench.h"

#include <string.h>

static const char style[] =
    "body { font: 15px/1.5 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #1e293b; max-width: 1040px; margin: 32px auto; padding: 0 24px }\n"
    "h1 { font-size: 24px; margin: 0 0 4px } h2 { font-size: 18px; margin: 36px 0 8px } p { margin: 4px 0 12px; color: #475569 }\n"
    "table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums } th { text-align: left; color: #475569 }\n"
    "th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid #e2e8f0; white-space: nowrap } .n { text-align: right }\n"
    "td.bar { width: 220px; padding-right: 0 } td.bar div { height: 11px; border-radius: 2px; background: #3b82f6 }\n"
    "tr.first td { border-top: 2px solid #cbd5e1 } svg { max-width: 100%; height: auto } .scroll { overflow-x: auto }\n";

static void add_text(Text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '&') text_add(t, "&amp;");
        else if (*s == '<') text_add(t, "&lt;");
        else if (*s == '>') text_add(t, "&gt;");
        else text_add_bytes(t, s, 1);
    }
}

static void add_cell(Text *t, bool number, const char *s)
{
    text_add(t, number ? "<td class=\"n\">" : "<td>");
    add_text(t, s);
    text_add(t, "</td>");
}

/* <th>s; behind a | the column is one of numbers. */
static void add_heads(Text *t, const char *const *heads, int n)
{
    text_add(t, "<div class=\"scroll\"><table>\n<tr>");
    for (int i = 0; i < n; i++) {
        const bool number = *heads[i] == '|';
        text_printf(t, "<th%s>", number ? " class=\"n\"" : "");
        add_text(t, heads[i] + number);
        text_add(t, "</th>");
    }
    text_add(t, "</tr>\n");
}

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
    add_cell(t, false, r->test->name);
    add_cell(t, false, r->engine->label);
    add_cell(t, false, model_dtype(b->session->model));
    add_cell(t, true, arena_format(a, "%d", r->threads));
    add_cell(t, true, sentences ? bench_spread(a, f.median_sentences, f.stddev_sentences) : bench_spread(a, f.median_ts, f.stddev_ts));
    add_cell(t, true, arena_format(a, "%.4g", f.p50_ns / 1e6));
    add_cell(t, true, arena_format(a, "%.4g", f.p99_ns / 1e6));
    add_cell(t, true, limit_text(a, &f));
    add_cell(t, true, arena_format(a, "%.1f %%", f.limit_pct));
    text_add(t, "</tr>\n");
}

static void add_rows(Text *t, const Bench *const *benches, int n)
{
    const bool sentences = bench_by_sentences(benches[0]), graph = benches[0]->session->model->model_kind == KIND_GRAPH;
    const char *const heads[] = { "test", "engine", "weights", "|threads", sentences ? "|sentences/s" : graph ? "|runs/s" : "|tokens/s", "|p50 ms",
                                  "|p99 ms", "|reached", "|of the limit" };
    text_add(t, "<h2>Speed</h2>\n");
    text_printf(t, "<p>Engines take turns. Medians of %d repetition%s ± standard deviation; p50 and p99 are of single runs. The share is of\n"
                   "what was probed in the same run, multiply-adds of f32 or reading, whichever is nearer; products of whole numbers\n"
                   "have a higher limit, so that int8 and int4 may pass 100 %%, and so may what reads while nobody else does.</p>\n",
                benches[0]->repetitions, benches[0]->repetitions > 1 ? "s" : "");
    add_heads(t, heads, sizeof heads / sizeof *heads);
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
    text_printf(t, "<h2>Time of each operation</h2>\n<p>One run of <b>%s</b> by the jit on one thread, weights of %s, all layers together,\n"
                   "%.3f ms in all; looking at the clock is included, some 40 ns a call.</p>\n",
                o->test->name, model_dtype(b->session->model), (double)o->ns / 1e6);
    add_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < o->count; i++) {
        const BenchOperation *x = &o->list[i];
        const double part = o->ns ? 100.0 * (double)x->ns / (double)o->ns : 0, ns = x->ns > 0 ? (double)x->ns : 1;
        text_add(t, "<tr>");
        add_cell(t, false, x->kernel);
        add_cell(t, false, any_layer(a, x->tensor));
        add_cell(t, true, arena_format(a, "%d", x->calls));
        add_cell(t, true, arena_format(a, "%.1f", (double)x->ns / 1e3));
        add_cell(t, true, arena_format(a, "%.1f %%", part));
        text_printf(t, "<td class=\"bar\"><div style=\"width: %.1f%%\"></div></td>", part);
        add_cell(t, true, x->flops > 0 ? arena_format(a, "%.1f", x->flops / ns) : "");
        add_cell(t, true, x->bytes > 0 ? arena_format(a, "%.1f", x->bytes / ns) : "");
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n");
}

/* ---- the page ------------------------------------------------------------------------------------------------------ */

static void add_machine(Text *t, const Bench *b)
{
    text_add(t, "<p>");
    add_text(t, machine_processor(b->arena));
    text_printf(t, ", kernels for %s. ", b->limits.isa);
    for (int i = 0; i < b->thread_count; i++) {
        const int n = b->threads[i];
        text_printf(t, "%s%d thread%s: %.0f GFLOP/s", i ? "; " : "Probed limits: ", n, n > 1 ? "s" : "", b->limits.peak[n] / 1e9);
        for (int level = 0; level < LIMIT_LEVELS; level++)
            if (b->limits.bandwidth[level][n] > 0) text_printf(t, ", %s %.0f GB/s", limit_level_names[level], b->limits.bandwidth[level][n] / 1e9);
    }
    text_add(t, ".</p>\n");
}

static void add_compilers(Text *t, const Bench *b)
{
    const char *const heads[] = { "engine", "compiler", "flags", "|compiled in ms", "|largest difference" };
    text_add(t, "<h2>Engines</h2>\n<p>The difference is of outputs, from those of the first engine.</p>\n");
    add_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < b->engine_count; i++) {
        const BenchEngine *e = &b->engines[i];
        text_add(t, "<tr>");
        add_cell(t, false, e->label);
        add_cell(t, false, e->compiler);
        add_cell(t, false, e->cflags);
        add_cell(t, true, e->compile_ns ? arena_format(b->arena, "%.1f", (double)e->compile_ns / 1e6) : "");
        add_cell(t, true, e->max_abs_err < 0 ? "" : arena_format(b->arena, "%.1e", e->max_abs_err));
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n");
}

Text bench_report(const Bench *const *benches, int n, const BenchOperations *operations)
{
    const Bench *b = benches[0];
    const Model *m = b->session->model;
    Text t = text_new(b->arena);
    text_add(&t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    add_text(&t, arena_format(b->arena, "%s: speed", m->name));
    text_printf(&t, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    add_text(&t, m->name);
    text_printf(&t, "</h1>\n<p>%s parameters", bench_count(b->arena, (double)model_parameters(m)));
    for (int k = 0; k < n; k++)
        text_printf(&t, "%s %s of weights as %s", k ? "," : ";", bench_size(b->arena, (double)benches[k]->plan->weights_bytes),
                    model_dtype(benches[k]->session->model));
    text_add(&t, ".</p>\n");
    add_machine(&t, b);
    text_add(&t, "<h2>By engine and weights</h2>\n");
    text_add(&t, bench_chart(benches, n).data);
    text_add(&t, "<h2>How near to the limit</h2>\n");
    text_add(&t, bench_roofline(benches, n).data);
    add_rows(&t, benches, n);
    if (operations->count) add_operations(&t, b, operations);
    add_compilers(&t, b);
    text_add(&t, "</body>\n</html>\n");
    return t;
}
