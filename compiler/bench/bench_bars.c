/* bench_bars.c: draw bars of speed next to bars of the share of the limit, as HTML. Widths are
 * percentages of a track, so text keeps its size on a page of any width. On a narrow page the name
 * is above its bars. */
#include "bench.h"

#include <string.h>

void bench_add_text(Text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '&') text_add(t, "&amp;");
        else if (*s == '<') text_add(t, "&lt;");
        else if (*s == '>') text_add(t, "&gt;");
        else if (*s == '"') text_add(t, "&quot;");
        else text_add_bytes(t, s, 1);
    }
}

static void add_name(Text *t, const Bench *b, const BenchRow *r, bool dtypes)
{
    Arena *a = b->arena;
    const char *dtype = dtypes ? arena_format(a, " %s", model_dtype(b->session->model)) : "";
    const char *many = r->threads > 1 ? "s" : "";
    text_add(t, "<div class=\"who\">");
    const char *engine = r->engine->label;
    bench_add_text(t, arena_format(a, "%s%s, %d thread%s", engine, dtype, r->threads, many));
    text_add(t, "</div>");
}

/* The whisker extends by the standard deviation to both sides. */
static void add_speed(Text *t, const Bench *b, const BenchFigures *f, const char *edge, double most)
{
    const double x = 100 * bench_speed(b, f) / most, half = 100 * bench_around(b, f) / most;
    text_printf(t, "<div class=\"meter\"><div class=\"track\">"
                   "<i style=\"width:%.2f%%;background:%s\"></i>", x, edge);
    if (half >= 0.3)
        text_printf(t, "<s style=\"left:%.2f%%;width:%.2f%%\"></s>", x > half ? x - half : 0,
                    x > half ? 2 * half : x + half);
    text_printf(t, "</div><b>%s</b></div>", bench_number(b->arena, bench_speed(b, f)));
}

static void add_share(Text *t, const Bench *b, const BenchRow *r, const BenchFigures *f,
                      const char *edge, double most)
{
    const double peak = b->limits.peak[r->threads] / 1e9;
    const double bandwidth = b->limits.bandwidth[f->level][r->threads] / 1e9;
    text_add(t, "<div class=\"meter share\" title=\"");
    if (f->by_flops) text_printf(t, "%.1f of %.1f GFLOP/s", f->gflops, peak);
    else text_printf(t, "%.1f of %.1f GB/s from %s", f->gbps, bandwidth,
                     limit_level_names[f->level]);
    text_printf(t, "\"><div class=\"track\"><i style=\"width:%.2f%%;background:%s\"></i>",
                100 * f->limit_pct / most, edge);
    if (most > 100) text_printf(t, "<u style=\"left:%.2f%%\"></u>", 1e4 / most);
    text_printf(t, f->limit_pct < 10 ? "</div><b>%.1f %%</b></div>" : "</div><b>%.0f %%</b></div>",
                f->limit_pct);
}

static void add_group(Text *t, const Bench *const *benches, int n, const BenchTest *test,
                      double share)
{
    const double most = bench_most_speed(benches, n, test);
    const BenchRow *r;
    text_add(t, "<h3>");
    bench_add_text(t, bench_test_text(benches[0]->arena, test));
    text_add(t, "</h3>\n");
    for (int k = 0, at = 0; (r = bench_next_row(benches, n, test->name, &k, &at));) {
        const BenchFigures f = bench_figures(benches[k], r);
        const char *edge = bench_colour(bench_colour_number(benches, k, r)).edge;
        text_add(t, "<div class=\"bars\">");
        add_name(t, benches[k], r, n > 1);
        add_speed(t, benches[k], &f, edge, most);
        add_share(t, benches[k], r, &f, edge, share);
        text_add(t, "</div>\n");
    }
}

void bench_bars(Text *t, const Bench *const *benches, int n)
{
    const Bench *b = benches[0];
    const double share = bench_most_share(benches, n);
    if (share > 100)
        text_printf(t, "<p>The scale of the share ends at %.0f %%; the mark is at 100 %%.</p>\n",
                    share);
    text_printf(t, "<div class=\"bars head\"><div class=\"who\"></div><div>%s</div>"
                   "<div>share of the limit</div></div>\n", bench_unit(b));
    for (int i = 0; i < b->test_count; i++) add_group(t, benches, n, &b->tests[i], share);
}
