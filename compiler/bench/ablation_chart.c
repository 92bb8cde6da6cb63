/* ablation_chart.c: draw a waterfall for each test: a bar for each step, from the speed of the
 * previous step to its own. The axis is logarithmic, so equal lengths are equal factors. */
#include "ablation.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 16, HEAD = 64, TEST_HEAD = 34, STEP = 24, BAR = 14, AXIS = 18, TEST_END = 18, FOOT = 28, NARROW = 500 };

/* Steps whose speed differs by less are drawn as equal. */
static const double NOISE = 0.02;

typedef struct Chart {
    Svg svg;
    const Ablation *a;
    double label, plot, value;      /* widths of three columns */
    double least, most;             /* log10 of the speeds at the ends of the axis */
} Chart;

static double speed_of(const Ablation *a, int test, int step)
{
    const AblationStep *s = &a->steps[step];
    const BenchFigures f = bench_figures(s->bench, ablation_row(a, test, step));
    return bench_speed(s->bench, &f);
}

static void find_ends(Chart *c, int test)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < c->a->count; i++) {
        const double x = speed_of(c->a, test, i);
        least = fmin(least, x);
        most = fmax(most, x);
    }
    c->least = log10(least / 1.5);
    c->most = log10(most);
}

static double x_of(const Chart *c, double speed)
{
    return MARGIN + c->label + (log10(speed) - c->least) / (c->most - c->least) * c->plot;
}

static void draw_step(Chart *c, int test, int step, double y)
{
    Arena *arena = c->a->benches[0].arena;
    const AblationStep *s = &c->a->steps[step];
    const double now = speed_of(c->a, test, step), before = step ? speed_of(c->a, test, step - 1) : pow(10, c->least);
    const double from = x_of(c, fmin(now, before)), to = x_of(c, fmax(now, before)), middle = y + (STEP - BAR) / 2.0;
    const double ratio = step ? ablation_ratio(c->a, test, step, step - 1) : 1;
    const int colour = fabs(ratio - 1) < NOISE ? SVG_GREY : ratio > 1 ? SVG_GREEN : SVG_ROSE;
    const char *factor = step ? arena_format(arena, "× %.2f", ratio) : "";
    const char *number = bench_number(arena, now);
    const double at = MARGIN + c->label + c->plot + c->value;
    svg_group(&c->svg, arena_format(arena, "%s: %s; %s %s %s", s->name, s->change, number, bench_unit(s->bench), factor));
    svg_text(&c->svg, MARGIN + c->label - 10, middle + 11, (SvgFont){ .size = 12, .anchor = SVG_RIGHT }, s->name);
    svg_rect(&c->svg, from, middle, fmax(to - from, 2), BAR,
             (SvgStyle){ .fill = svg_colours[colour].fill, .stroke = svg_colours[colour].edge, .radius = 2 }, NULL);
    if (step + 1 < c->a->count)
        svg_line(&c->svg, x_of(c, now), middle + BAR, x_of(c, now), middle + STEP, (SvgStyle){ .stroke = SVG_LINE, .dash = "2 2" });
    svg_text(&c->svg, at - 58, middle + 11, (SvgFont){ .size = 12, .anchor = SVG_RIGHT }, number);
    svg_text(&c->svg, at, middle + 11, (SvgFont){ .size = 12, .anchor = SVG_RIGHT, .fill = SVG_FAINT }, factor);
    svg_group_end(&c->svg);
}

/* Draw a line at 1, 2 and 5 times each power of ten of the axis, from y down to `low`, with a number
 * below it where there is room. */
static void draw_axis(Chart *c, double y, double low)
{
    static const int digits[] = { 1, 2, 5 };
    const SvgFont font = { .size = 11, .anchor = SVG_MIDDLE, .fill = SVG_FAINT };
    double free = 0;
    for (int power = (int)floor(c->least); power <= c->most; power++)
        for (int i = 0; i < 3; i++) {
            const double speed = digits[i] * pow(10, power), x = x_of(c, speed);
            if (log10(speed) < c->least || log10(speed) > c->most) continue;
            const char *number = bench_number(c->a->benches[0].arena, speed);
            const double half = svg_width(number, font) / 2;
            svg_line(&c->svg, x, y, x, low, (SvgStyle){ .stroke = SVG_GRID });
            if (x - half < free) continue;
            svg_text(&c->svg, x, low + 13, font, number);
            free = x + half + 8;
        }
}

static double draw_test(Chart *c, int test, double y)
{
    const Bench *b = &c->a->benches[0];
    const char *text = arena_format(b->arena, "%s, %s", bench_test_text(b->arena, &b->tests[test]), bench_unit(b));
    find_ends(c, test);
    svg_text(&c->svg, MARGIN, y + 20, (SvgFont){ .size = 13, .bold = true }, text);
    y += TEST_HEAD;
    draw_axis(c, y, y + STEP * c->a->count);
    for (int i = 0; i < c->a->count; i++) draw_step(c, test, i, y + STEP * i);
    return y + STEP * c->a->count + AXIS + TEST_END;
}

static void begin(Chart *c, const Ablation *a, double width)
{
    c->a = a;
    c->label = width < NARROW ? 104 : 124;
    c->value = width < NARROW ? 118 : 136;
    c->plot = width - 2 * MARGIN - c->label - c->value;
}

static double tests_height(const Ablation *a)
{
    return a->benches[0].test_count * (double)(TEST_HEAD + STEP * a->count + AXIS + TEST_END);
}

Text ablation_chart(const Ablation *a)
{
    enum { WIDTH = 760 };
    const Bench *b = &a->benches[0];
    const char *title = arena_format(b->arena, "%s: what each step gains", b->session->model->name);
    Chart c = { .svg = svg_new(b->arena, WIDTH, HEAD + tests_height(a) + FOOT, title) };
    double y = HEAD;
    begin(&c, a, WIDTH);
    svg_text(&c.svg, MARGIN, 34, (SvgFont){ .size = 18, .bold = true }, title);
    svg_printf(&c.svg, MARGIN, 54, (SvgFont){ .size = 12, .fill = SVG_FAINT },
               "median of %d repetition%s; steps take turns; ×: relative to the step before; the axis is logarithmic",
               b->repetitions, b->repetitions > 1 ? "s" : "");
    for (int i = 0; i < b->test_count; i++) y = draw_test(&c, i, y);
    const char *processor = machine_processor(b->arena);
    svg_printf(&c.svg, MARGIN, y + 12, (SvgFont){ .size = 11, .fill = SVG_FAINT }, "%s%s%s",
               processor, *processor ? ", " : "", b->limits.isa);
    svg_finish(&c.svg);
    return c.svg.text;
}

Text ablation_chart_inline(const Ablation *a, int width)
{
    const Bench *b = &a->benches[0];
    Chart c = { .svg = svg_inline(b->arena, width, tests_height(a), "What each step gains") };
    double y = 0;
    begin(&c, a, width);
    for (int i = 0; i < b->test_count; i++) y = draw_test(&c, i, y);
    svg_finish(&c.svg);
    return c.svg.text;
}
