/* bench_chart.c: draw bars of speed next to bars of the share of the limit, as SVG: a group for
 * each test, with a pair of bars for each engine, dtype and number of threads. The longest bar of a
 * group, with its spread, fills the column. Shares go from 0 to 100 %; if one is larger, the scale
 * goes further and has a mark at 100 %. bench_bars.c draws the same in HTML. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "svg.h"

enum {
    MARGIN = 24, NAMES = 200, SPEED = 360, NUMBERS = 190, SHARE = 180, SHARE_NUMBERS = 60,
    SPEED_AT = MARGIN + NAMES, SHARE_AT = SPEED_AT + SPEED + NUMBERS, PAGE = SHARE_AT + SHARE + SHARE_NUMBERS + MARGIN,
    HEAD = 92, GROUP_HEAD = 26, BAR = 16, STEP = 21, GROUP_END = 14, FOOT = 40
};

double bench_speed(const Bench *b, const BenchFigures *f)
{
    return bench_by_sentences(b) ? f->median_sentences : f->median_ts;
}

double bench_around(const Bench *b, const BenchFigures *f)
{
    return bench_by_sentences(b) ? f->stddev_sentences : f->stddev_ts;
}

const char *bench_unit(const Bench *b)
{
    return bench_by_sentences(b) ? "sentences/s" : b->session->model->model_kind == KIND_GRAPH ? "runs/s" : "tokens/s";
}

/* "1,234,567"; below 999.5, three significant digits. */
const char *bench_number(Arena *a, double x)
{
    if (x < 999.5) return arena_format(a, "%.3g", x);
    const char *digits = arena_format(a, "%.0f", x);
    Text t = text_new(a);
    for (size_t n = strlen(digits), i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) text_add(&t, ",");
        text_add_bytes(&t, digits + i, 1);
    }
    return t.data;
}

SvgColour bench_colour(int number)
{
    static const int colours[] = { SVG_GREY, SVG_BLUE, SVG_GREEN, SVG_ORANGE, SVG_VIOLET, SVG_TEAL, SVG_ROSE, SVG_YELLOW };
    return svg_colours[colours[number % (int)(sizeof colours / sizeof *colours)]];
}

const char *bench_test_text(Arena *a, const BenchTest *t)
{
    switch (t->work) {
    case BENCH_ENCODE:    return arena_format(a, "%s: read %d token%s", t->name, t->prompt, t->prompt > 1 ? "s" : "");
    case BENCH_DECODE:    return arena_format(a, "%s: write %d token%s", t->name, t->generated, t->generated > 1 ? "s" : "");
    case BENCH_BOTH:      return arena_format(a, "%s: read %d token%s, write %d", t->name, t->prompt, t->prompt > 1 ? "s" : "", t->generated);
    case BENCH_PROMPT:    return arena_format(a, "%s: read %d tokens, many at a time", t->name, t->prompt);
    case BENCH_GENERATE:  return arena_format(a, "%s: write %d token%s, one at a time", t->name, t->generated, t->generated > 1 ? "s" : "");
    case BENCH_SENTENCES: return arena_format(a, "%s: %d sentence%s of %d tokens", t->name, t->batch, t->batch > 1 ? "s" : "", t->prompt);
    case BENCH_GRAPH:     break;
    }
    return t->name;
}

static void draw_speed(Svg *s, const Bench *b, const BenchRow *r, const BenchFigures *f, SvgColour c, double most, double y)
{
    const double x = bench_speed(b, f) / most * SPEED, half = bench_around(b, f) / most * SPEED;
    const double middle = y + BAR / 2.0;
    const char *tip = arena_format(b->arena, "%s, %d thread%s, %s: %s ± %s %s", r->engine->label, r->threads,
                                   r->threads > 1 ? "s" : "", r->test->name, bench_number(b->arena, bench_speed(b, f)),
                                   bench_number(b->arena, bench_around(b, f)), bench_unit(b));
    svg_rect(s, SPEED_AT, y, x, BAR, (SvgStyle){ .fill = c.edge, .radius = 2 }, tip);
    const double end = SPEED_AT + x + half;
    if (half >= 1) {
        svg_line(s, SPEED_AT + (x > half ? x - half : 0), middle, end, middle, (SvgStyle){ .stroke = SVG_INK });
        svg_line(s, end, middle - 4, end, middle + 4, (SvgStyle){ .stroke = SVG_INK });
    }
    svg_text(s, end + 7, y + 12.5, (SvgFont){ .size = 12 },
             bench_number(b->arena, bench_speed(b, f)));
}

/* The end of the scale of shares in percent: 100, or the next multiple of 25 if a share is
 * larger. */
double bench_most_share(const Bench *const *benches, int n)
{
    double most = 100;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < benches[k]->row_count; i++) {
            const BenchFigures f = bench_figures(benches[k], &benches[k]->rows[i]);
            most = fmax(most, 25 * ceil(f.limit_pct / 25));
        }
    return most;
}

static void draw_share(Svg *s, const Bench *b, const BenchRow *r, const BenchFigures *f,
                       SvgColour c, double most, double y)
{
    const double part = f->limit_pct / most, whole = SHARE_AT + 100 / most * SHARE;
    const char *of = f->by_flops ? "arithmetic" : limit_level_names[f->level];
    const char *tip = f->by_flops ? arena_format(b->arena, "%.1f of %.1f GFLOP/s", f->gflops, b->limits.peak[r->threads] / 1e9)
                                  : arena_format(b->arena, "%.1f of %.1f GB/s from %s", f->gbps, b->limits.bandwidth[f->level][r->threads] / 1e9, of);
    svg_rect(s, SHARE_AT, y, SHARE, BAR, (SvgStyle){ .fill = c.fill, .radius = 2 }, tip);
    svg_rect(s, SHARE_AT, y, part * SHARE, BAR, (SvgStyle){ .fill = c.edge, .radius = 2 }, tip);
    if (most > 100) svg_line(s, whole, y - 2, whole, y + BAR + 2, (SvgStyle){ .stroke = SVG_INK });
    svg_printf(s, SHARE_AT + SHARE + 7, y + 12.5, (SvgFont){ .size = 12 }, f->limit_pct < 10 ? "%.1f %%" : "%.0f %%", f->limit_pct);
}

/* The ends of the scales of both columns. */
typedef struct Most { double speed, share; } Most;

static void draw_row(Svg *s, const Bench *b, const BenchRow *r, SvgColour c, bool dtypes,
                     Most most, double y)
{
    const BenchFigures f = bench_figures(b, r);
    svg_printf(s, SPEED_AT - 8, y + 12.5, (SvgFont){ .anchor = SVG_RIGHT }, "%s%s%s, %d thread%s", r->engine->label, dtypes ? " " : "",
               dtypes ? model_dtype(b->session->model) : "", r->threads, r->threads > 1 ? "s" : "");
    draw_speed(s, b, r, &f, c, most.speed, y);
    draw_share(s, b, r, &f, c, most.share, y);
}

const BenchRow *bench_next_row(const Bench *const *benches, int n, const char *test, int *k,
                               int *at)
{
    for (; *k < n; ++*k, *at = 0)
        while (*at < benches[*k]->row_count) {
            const BenchRow *r = &benches[*k]->rows[(*at)++];
            if (strcmp(r->test->name, test) == 0) return r;
        }
    return NULL;
}

static int row_count(const Bench *const *benches, int n, const char *test)
{
    int count = 0;
    for (int k = 0, at = 0; bench_next_row(benches, n, test, &k, &at);) count++;
    return count;
}

double bench_most_speed(const Bench *const *benches, int n, const BenchTest *test)
{
    double most = 0;
    const BenchRow *r;
    for (int k = 0, at = 0; (r = bench_next_row(benches, n, test->name, &k, &at));) {
        const BenchFigures f = bench_figures(benches[k], r);
        most = fmax(most, bench_speed(benches[k], &f) + bench_around(benches[k], &f));
    }
    return most;
}

int bench_colour_number(const Bench *const *benches, int k, const BenchRow *r)
{
    int number = (int)(r->engine - benches[k]->engines);
    for (int i = 0; i < k; i++) number += benches[i]->engine_count;
    return number;
}

/* Draw the rows of one test from y on; returns the y below them. */
static double draw_group(Svg *s, const Bench *const *benches, int n, const BenchTest *test,
                         double share, double y)
{
    const Most most = { bench_most_speed(benches, n, test), share };
    const BenchRow *r;
    svg_line(s, MARGIN, y, PAGE - MARGIN, y, (SvgStyle){ .stroke = SVG_GRID });
    svg_text(s, MARGIN, y + 18, (SvgFont){ .size = 13, .bold = true },
             bench_test_text(benches[0]->arena, test));
    if (share > 100)
        svg_text(s, SHARE_AT + 100 / share * SHARE, y + 18,
                 (SvgFont){ .size = 11, .anchor = SVG_MIDDLE, .fill = SVG_FAINT }, "100 %");
    y += GROUP_HEAD;
    for (int k = 0, at = 0; (r = bench_next_row(benches, n, test->name, &k, &at)); y += STEP) {
        const SvgColour c = bench_colour(bench_colour_number(benches, k, r));
        draw_row(s, benches[k], r, c, n > 1, most, y);
    }
    return y + GROUP_END;
}

static void draw_head(Svg *s, const Bench *b, bool dtypes)
{
    const Model *m = b->session->model;
    const SvgFont faint = { .size = 12, .fill = SVG_FAINT };
    const char *weights = arena_format(b->arena, "%s, %s of weights, ", model_dtype(m), bench_size(b->arena, (double)b->plan->weights_bytes));
    svg_printf(s, MARGIN, 34, (SvgFont){ .size = 18, .bold = true }, "%s: how fast, and how near to the limit", m->name);
    svg_printf(s, MARGIN, 54, faint, "%s%s parameters; median of %d repetition%s ± standard deviation", dtypes ? "" : weights,
               bench_count(b->arena, (double)model_parameters(m)), b->repetitions, b->repetitions > 1 ? "s" : "");
    svg_text(s, SPEED_AT, 80, (SvgFont){ .bold = true }, bench_unit(b));
    svg_text(s, SHARE_AT, 80, (SvgFont){ .bold = true }, "share of the machine's limit");
}

static void draw_foot(Svg *s, const Bench *b, double y)
{
    Text t = text_new(b->arena);
    text_printf(&t, "Limits probed in the same run (%s)", b->limits.isa);
    for (int i = 0; i < b->thread_count; i++) {
        const int n = b->threads[i];
        text_printf(&t, "%s %d thread%s: %.0f GFLOP/s", i ? ";" : ",", n, n > 1 ? "s" : "", b->limits.peak[n] / 1e9);
        for (int level = 0; level < LIMIT_LEVELS; level++)
            if (b->limits.bandwidth[level][n] > 0)
                text_printf(&t, ", %s %.0f", limit_level_names[level], b->limits.bandwidth[level][n] / 1e9);
        text_add(&t, " GB/s");
    }
    const SvgFont font = { .size = 11, .fill = SVG_FAINT };
    svg_text(s, MARGIN, y + 16, font, svg_fit(b->arena, t.data, font, PAGE - 2 * MARGIN));
}

Text bench_chart(const Bench *const *benches, int n)
{
    const Bench *b = benches[0];
    double height = HEAD + b->test_count * (GROUP_HEAD + GROUP_END) + FOOT;
    for (int i = 0; i < b->test_count; i++) height += STEP * row_count(benches, n, b->tests[i].name);
    Svg s = svg_new(b->arena, PAGE, height, arena_format(b->arena, "Speed of %s", b->session->model->name));
    double y = HEAD;
    const double share = bench_most_share(benches, n);
    draw_head(&s, b, n > 1);
    for (int i = 0; i < b->test_count; i++) y = draw_group(&s, benches, n, &b->tests[i], share, y);
    draw_foot(&s, b, y);
    svg_finish(&s);
    return s.text;
}
