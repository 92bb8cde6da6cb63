/* bench_report.c: a page of HTML that stands alone: what was measured, where, and how near to the machine's limit. */
#include "bench.h"

#include <string.h>

/* Colours by name, so that a dark page has its own; what is wide scrolls in a box of its own, and
 * the page never does so sideways. */
static const char style[] =
    ":root { color-scheme: light dark; --paper: #ffffff; --ink: #1e293b; --soft: #475569;"
    " --grid: #e2e8f0;"
    " --rim: #cbd5e1; --track: #eef2f6; --bar: #3b82f6 }\n"
    "* { box-sizing: border-box }\n"
    "body { font: 15px/1.5 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: var(--ink);"
    " background: var(--paper); max-width: 1040px; margin: 32px auto; padding: 0 24px }\n"
    "h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere } h2 { font-size: 19px;"
    " margin: 40px 0 8px }\n"
    "h3 { font-size: 14px; margin: 20px 0 6px; padding-top: 10px; border-top: 1px solid"
    " var(--grid) }\n"
    "p { margin: 4px 0 12px; color: var(--soft) } svg { display: block; max-width: 100%; height:"
    " auto }\n"
    ".bars { display: grid; grid-template-columns: 196px minmax(0, 1fr) 250px; gap: 0 14px;"
    " align-items: center;"
    " font-size: 13px; line-height: 22px }\n"
    ".who { text-align: right } .head { color: var(--soft); font-weight: bold }\n"
    ".meter { display: grid; grid-template-columns: minmax(0, 1fr) 76px; gap: 8px; align-items:"
    " center }\n"
    ".share { grid-template-columns: minmax(0, 1fr) 46px }\n"
    ".meter b { font-weight: normal; white-space: nowrap; font-variant-numeric: tabular-nums }\n"
    ".track { position: relative; height: 14px } .share .track { background: var(--track);"
    " border-radius: 2px }\n"
    ".track i, .track s, .track u { position: absolute; top: 0; bottom: 0 } .track i { left: 0;"
    " border-radius: 2px }\n"
    ".track s { top: 3px; bottom: 3px; border: solid var(--ink); border-width: 0 1.5px;"
    " background: linear-gradient(var(--ink), var(--ink)) center / 100% 1.5px no-repeat }\n"
    ".track u { top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--ink) }\n"
    ".key { list-style: none; margin: 0 0 12px; padding: 0; display: flex; flex-wrap: wrap; gap:"
    " 2px 20px;"
    " font-size: 13px }\n"
    ".key i { display: inline-block; width: 11px; height: 11px; margin-right: 7px;"
    " border-radius: 50%;"
    " border: 1px solid var(--ink) }\n"
    "details { border-top: 1px solid var(--grid); padding: 8px 0 16px } summary { cursor:"
    " pointer; margin-bottom: 10px }\n"
    ".narrow { display: none }\n"
    ".scroll { overflow-x: auto; margin-bottom: 8px }\n"
    "table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }\n"
    "th { text-align: left; color: var(--soft) }\n"
    "th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid var(--grid); white-space: nowrap"
    " }\n"
    "th.n, td.n { text-align: right }\n"
    "th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper) }\n"
    "td.bar { width: 180px } td.bar div { height: 11px; border-radius: 2px; background:"
    " var(--bar) }\n"
    "tr.first td { border-top: 2px solid var(--rim) }\n"
    "@media (max-width: 720px) {\n"
    "body { margin: 20px auto; padding: 0 16px } h1 { font-size: 23px } .wide { display: none }"
    " .narrow { display: block }\n"
    ".bars { grid-template-columns: minmax(0, 5fr) minmax(0, 4fr); gap: 0 12px; line-height:"
    " 18px; padding: 3px 0 }\n"
    ".who { grid-column: 1 / 3; text-align: left } .meter { grid-template-columns: minmax(0,"
    " 1fr) 66px }\n"
    ".share { grid-template-columns: minmax(0, 1fr) 44px } .track { height: 12px } td.bar {"
    " width: 90px }\n"
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    ":root { --paper: #0f172a; --ink: #e2e8f0; --soft: #a3b1c6; --grid: #27364b; --rim: #475569;"
    " --track: #1e293b; --bar: #4f8ff7 }\n";

static void add_cell(Text *t, bool number, const char *s)
{
    text_add(t, number ? "<td class=\"n\">" : "<td>");
    bench_add_text(t, s);
    text_add(t, "</td>");
}

/* <th>s; behind a | the column is one of numbers. */
static void add_heads(Text *t, const char *const *heads, int n)
{
    text_add(t, "<div class=\"scroll\" tabindex=\"0\"><table>\n<tr>");
    for (int i = 0; i < n; i++) {
        const bool number = *heads[i] == '|';
        text_printf(t, "<th%s>", number ? " class=\"n\"" : "");
        bench_add_text(t, heads[i] + number);
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

/* "264 GFLOP/s, L2 390 GB/s, L3 175 GB/s, DRAM 20 GB/s" */
static void add_limits(Text *t, const Limits *l, int threads)
{
    text_printf(t, "%.0f GFLOP/s", l->peak[threads] / 1e9);
    for (int i = 0; i < LIMIT_LEVELS; i++)
        if (l->bandwidth[i][threads] > 0)
            text_printf(t, ", %s %.0f GB/s", limit_level_names[i], l->bandwidth[i][threads] / 1e9);
}

static void add_machine(Text *t, const Bench *b)
{
    text_add(t, "<p>");
    bench_add_text(t, machine_processor(b->arena));
    text_printf(t, ", kernels for %s.</p>\n", b->limits.isa);
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

/* One for each number of threads; that of the most is open. Two widths of each, of which a page
 * shows one. */
static void add_rooflines(Text *t, const Bench *const *benches, int n)
{
    enum { WIDE = 990, NARROW = 350 };
    const Bench *b = benches[0];
    text_add(t, "<h2>How near to the limit</h2>\n"
                "<p>On a slope all that a level of memory gives is used; on the\n"
                "flat roof, all multiply-adds of f32. Both were probed in the same run.</p>\n");
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
    const char *const heads[] = { "engine", "compiler", "|compiled in ms", "|largest difference", "flags" };
    text_add(t, "<h2>Engines</h2>\n<p>The difference is of outputs, from those of the first engine.</p>\n");
    add_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < b->engine_count; i++) {
        const BenchEngine *e = &b->engines[i];
        text_add(t, "<tr>");
        add_cell(t, false, e->label);
        add_cell(t, false, e->compiler);
        add_cell(t, true, e->compile_ns ? arena_format(b->arena, "%.1f", (double)e->compile_ns / 1e6) : "");
        add_cell(t, true, e->max_abs_err < 0 ? "" : arena_format(b->arena, "%.1e", e->max_abs_err));
        add_cell(t, false, e->cflags);                  /* the longest: on a narrow page what is cut off */
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n");
}

Text bench_report(const Bench *const *benches, int n, const BenchOperations *operations)
{
    const Bench *b = benches[0];
    const Model *m = b->session->model;
    Text t = text_new(b->arena);
    text_add(&t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    bench_add_text(&t, arena_format(b->arena, "%s: speed", m->name));
    text_printf(&t, "</title>\n<style>\n%s", style);
    svg_add_night(&t);
    text_add(&t, "}\n</style>\n</head>\n<body>\n<h1>");
    bench_add_text(&t, m->name);
    text_printf(&t, "</h1>\n<p>%s parameters", bench_count(b->arena, (double)model_parameters(m)));
    for (int k = 0; k < n; k++)
        text_printf(&t, "%s %s of weights as %s", k ? "," : ";", bench_size(b->arena, (double)benches[k]->plan->weights_bytes),
                    model_dtype(benches[k]->session->model));
    text_add(&t, ".</p>\n");
    add_machine(&t, b);
    text_add(&t, "<h2>By engine and weights</h2>\n");
    bench_bars(&t, benches, n);
    add_rooflines(&t, benches, n);
    add_rows(&t, benches, n);
    if (operations->count) add_operations(&t, b, operations);
    add_compilers(&t, b);
    text_add(&t, "</body>\n</html>\n");
    return t;
}
