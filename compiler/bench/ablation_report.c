/* ablation_report.c: write the HTML page of an Ablation: waterfalls, steps, and the rows of each
 * test. */
#include "ablation.h"

#include <math.h>
#include <string.h>

#include "bench_page.h"

static void add_steps(Text *t, const Ablation *a)
{
    const char *const heads[] = { "step", "what is new", "|code", "|compiled in s", "|weights", "|distance" };
    Arena *arena = a->benches[0].arena;
    text_add(t, "<h2>Steps</h2>\n<p>From \"constant shapes\" on, each step keeps what the steps before it changed, except the dtype.\n"
                "Its distance is the largest difference of its outputs from those of the step before, divided by their largest\n"
                "value. generic: each operation is a call of OpenBLAS or a loop. native: emitted C, compiled to native code, with the\n"
                "library's kernels; unrolled: plain C for these shapes alone.</p>\n<p>");
    bench_add_text(t, ablation_engines(a, arena));
    text_add(t, ".</p>\n");
    bench_page_heads(t, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < a->count; i++) {
        const AblationStep *s = &a->steps[i];
        const EnginePhases *p = &s->engine->engine->phases;
        const double distance = ablation_distance(s);
        text_add(t, "<tr>");
        bench_page_cell(t, false, s->name);
        bench_page_words(t, s->change);
        bench_page_cell(t, true, p->code_bytes ? bench_size(arena, (double)p->code_bytes) : "");
        const char *seconds = arena_format(arena, "%.1f", (double)p->compile_ns / 1e9);
        bench_page_cell(t, true, !p->code_bytes ? "" : p->compiled_before ? "cached" : seconds);
        bench_page_cell(t, true, bench_size(arena, (double)s->bench->plan->weights_bytes));
        bench_page_cell(t, true, isnan(distance) ? "" : distance == 0 ? "0" : arena_format(arena, "%.1e", distance));
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n");
}

static void add_rows(Text *t, const Ablation *a)
{
    const Bench *b = &a->benches[0];
    const char *const heads[] = { "test", "step", "|threads", arena_format(b->arena, "|%s", bench_unit(b)),
                                  "|× before", "|× generic", "|of the limit" };
    text_printf(t, "<h2>Speed</h2>\n<p>Steps take turns. Medians of %d repetition%s ± standard deviation; a factor is the median of the\n"
                   "repetitions' ratios. The share is relative to the limit probed in the same run, for f32 multiply-adds or for reading,\n"
                   "whichever is nearer. Products of integers have a higher limit, so int8 and int4 may exceed 100 %%.</p>\n",
                b->repetitions, b->repetitions > 1 ? "s" : "");
    bench_page_heads(t, heads, sizeof heads / sizeof *heads);
    for (int test = 0; test < b->test_count; test++)
        for (int i = 0; i < a->count; i++) {
            const AblationStep *s = &a->steps[i];
            const BenchFigures f = bench_figures(s->bench, ablation_row(a, test, i));
            text_add(t, i ? "<tr>" : "<tr class=\"first\">");
            bench_page_cell(t, false, b->tests[test].name);
            bench_page_cell(t, false, s->name);
            bench_page_cell(t, true, arena_format(b->arena, "%d", s->threads));
            bench_page_cell(t, true, bench_spread(b->arena, bench_speed(s->bench, &f), bench_around(s->bench, &f)));
            bench_page_cell(t, true, i ? arena_format(b->arena, "%.2f", ablation_ratio(a, test, i, i - 1)) : "");
            bench_page_cell(t, true, arena_format(b->arena, "%.2f", ablation_ratio(a, test, i, 0)));
            bench_page_cell(t, true, arena_format(b->arena, "%.1f %%", f.limit_pct));
            text_add(t, "</tr>\n");
        }
    text_add(t, "</table></div>\n");
}

Text ablation_report(const Ablation *a)
{
    enum { WIDE = 900, NARROW = 350 };
    const Bench *b = &a->benches[0];
    const Model *m = b->session->model;
    Text t = text_new(b->arena);
    bench_page_begin(&t, arena_format(b->arena, "%s: what each step gains", m->name), arena_format(b->arena, "%s: what each step gains", m->name));
    text_printf(&t, "<p>%s parameters.</p>\n", bench_count(b->arena, (double)model_parameters(m)));
    bench_page_machine(&t, b);
    text_add(&t, "<p>Each step's bar reaches from the speed of the step before to its own: green if it is faster, red if\n"
                 "slower, grey within 2 %. The axis is logarithmic.</p>\n<div class=\"wide\">\n");
    text_add(&t, ablation_chart_inline(a, WIDE).data);
    text_add(&t, "</div>\n<div class=\"narrow\">\n");
    text_add(&t, ablation_chart_inline(a, NARROW).data);
    text_add(&t, "</div>\n");
    add_steps(&t, a);
    add_rows(&t, a);
    if (a->left_count) text_add(&t, "<h2>Left out</h2>\n<ul>\n");
    for (int i = 0; i < a->left_count; i++) {
        text_add(&t, "<li>");
        bench_add_text(&t, a->left_out[i]);
        text_add(&t, "</li>\n");
    }
    if (a->left_count) text_add(&t, "</ul>\n");
    bench_page_end(&t);
    return t;
}
