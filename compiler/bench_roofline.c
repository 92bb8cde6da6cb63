/* bench_roofline.c: what was reached, beneath what the machine can do: GFLOP/s by FLOPs for each byte that is read. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "svg.h"

enum { LEFT = 70, TOP = 64, WIDTH = 640, HEIGHT = 360, KEY = 210, FOOT = 56, PAGE_WIDTH = LEFT + WIDTH + KEY, PAGE_HEIGHT = TOP + HEIGHT + FOOT };

/* Powers of two from `low` to `high` over `length` pixels. */
typedef struct Axis { double low, high, length; } Axis;

static double place(const Axis *a, double x) { return (log2(x) - a->low) / (a->high - a->low) * a->length; }

static void widen(Axis *a, double x)
{
    if (!(x > 0)) return;
    if (floor(log2(x)) < a->low) a->low = floor(log2(x));
    if (ceil(log2(x)) > a->high) a->high = ceil(log2(x));
}

typedef struct Roofline { Svg svg; const Bench *const *benches; int n, threads; Axis x, y; } Roofline;

static double at_x(const Roofline *r, double x) { return LEFT + place(&r->x, x); }
static double at_y(const Roofline *r, double y) { return TOP + HEIGHT - place(&r->y, y); }

static double intensity(const BenchTest *t) { return t->bytes > 0 ? t->flops / t->bytes : 0; }

static bool is_drawn(const Roofline *r, const BenchRow *row)
{
    return row->threads == r->threads && intensity(row->test) > 0;
}

/* Every point, every slope's lowest end and the peak have a place. */
static void choose_axes(Roofline *r)
{
    const Limits *l = &r->benches[0]->limits;
    r->x = (Axis){ -2, 4, WIDTH };
    r->y = (Axis){ 3, 4, HEIGHT };
    for (int k = 0; k < r->n; k++)
        for (int i = 0; i < r->benches[k]->row_count; i++) {
            const BenchRow *row = &r->benches[k]->rows[i];
            if (!is_drawn(r, row)) continue;
            widen(&r->x, intensity(row->test));
            widen(&r->y, bench_figures(r->benches[k], row).gflops);
        }
    for (int i = 0; i < LIMIT_LEVELS; i++)
        if (l->bandwidth[i][r->threads] > 0) widen(&r->x, l->peak[r->threads] / l->bandwidth[i][r->threads]);
    widen(&r->y, l->peak[r->threads] / 1e9 * 1.01);
}

static const char *power(Arena *a, int n) { return n < 0 ? arena_format(a, "1/%d", 1 << -n) : arena_format(a, "%d", 1 << n); }

static void draw_grid(Roofline *r)
{
    Arena *a = r->benches[0]->arena;
    Svg *s = &r->svg;
    for (int i = (int)r->x.low; i <= (int)r->x.high; i++) {
        const double x = at_x(r, exp2(i));
        svg_line(s, x, TOP, x, TOP + HEIGHT, (SvgStyle){ .stroke = SVG_GRID });
        svg_text(s, x, TOP + HEIGHT + 16, (SvgFont){ .size = 11, .anchor = SVG_MIDDLE, .fill = SVG_FAINT }, power(a, i));
    }
    for (int i = (int)r->y.low; i <= (int)r->y.high; i++) {
        const double y = at_y(r, exp2(i));
        svg_line(s, LEFT, y, LEFT + WIDTH, y, (SvgStyle){ .stroke = SVG_GRID });
        svg_text(s, LEFT - 8, y + 4, (SvgFont){ .size = 11, .anchor = SVG_RIGHT, .fill = SVG_FAINT }, power(a, i));
    }
    svg_text(s, LEFT + WIDTH / 2.0, TOP + HEIGHT + 38, (SvgFont){ .anchor = SVG_MIDDLE }, "FLOPs for each byte of weights and caches");
    svg_text(s, 22, TOP + HEIGHT / 2.0, (SvgFont){ .anchor = SVG_MIDDLE, .turn = -90 }, "GFLOP/s");
}

/* A slope from the lowest corner that has room, up to the peak, or what it is called. */
static void draw_slope(Roofline *r, LimitLevel level, bool named)
{
    const Limits *l = &r->benches[0]->limits;
    const double bandwidth = l->bandwidth[level][r->threads] / 1e9, peak = l->peak[r->threads] / 1e9;
    if (!(bandwidth > 0)) return;
    double from = exp2(r->x.low);
    if (from * bandwidth < exp2(r->y.low)) from = exp2(r->y.low) / bandwidth;
    const double x = at_x(r, from), y = at_y(r, from * bandwidth), end_x = at_x(r, peak / bandwidth), end_y = at_y(r, peak);
    if (!named) {
        svg_line(&r->svg, x, y, end_x, end_y, (SvgStyle){ .stroke = SVG_LINE, .width = 1.5 });
        return;
    }
    const double turn = -atan2(y - end_y, end_x - x) * 180 / acos(-1), part = 0.12 + 0.2 * (LIMIT_LEVELS - 1 - level);
    svg_printf(&r->svg, x + part * (end_x - x), y + part * (end_y - y) - 6, (SvgFont){ .size = 11, .turn = turn, .halo = true }, "%s %.0f GB/s",
               limit_level_names[level], bandwidth);
}

/* Names stand over the lines, that of the roof at its corner, where no point is. */
static void draw_roof(Roofline *r)
{
    const double peak = r->benches[0]->limits.peak[r->threads] / 1e9;
    double least = exp2(r->x.high);
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        const double bandwidth = r->benches[0]->limits.bandwidth[i][r->threads] / 1e9;
        draw_slope(r, (LimitLevel)i, false);
        if (bandwidth > 0 && peak / bandwidth < least) least = peak / bandwidth;
    }
    svg_line(&r->svg, at_x(r, least), at_y(r, peak), LEFT + WIDTH, at_y(r, peak), (SvgStyle){ .stroke = SVG_LINE, .width = 1.5 });
    for (int i = 0; i < LIMIT_LEVELS; i++) draw_slope(r, (LimitLevel)i, true);
    svg_printf(&r->svg, at_x(r, least) + 4, at_y(r, peak) - 6, (SvgFont){ .size = 11 }, "%.0f GFLOP/s", peak);
}

/* An engine with one dtype has a colour and a line of the key; its points have the tests' names. */
static void draw_engine(Roofline *r, int bench, const BenchEngine *e, int number)
{
    const Bench *b = r->benches[bench];
    const SvgColour c = bench_colour(number);
    const double key = TOP + 10 + 20 * number;
    const SvgStyle style = { .fill = c.edge, .stroke = SVG_INK };
    svg_circle(&r->svg, LEFT + WIDTH + 24, key, 5, style, NULL);
    svg_printf(&r->svg, LEFT + WIDTH + 36, key + 4, (SvgFont){ 0 }, "%s, %s", e->label, model_dtype(b->session->model));
    for (int i = 0; i < b->row_count; i++) {
        const BenchRow *row = &b->rows[i];
        if (row->engine != e || !is_drawn(r, row)) continue;
        const BenchFigures f = bench_figures(b, row);
        if (!(f.gflops > 0)) continue;
        svg_circle(&r->svg, at_x(r, intensity(row->test)), at_y(r, f.gflops), 5, style,
                   arena_format(b->arena, "%s %s, %s: %.1f GFLOP/s, %.1f GB/s, %.0f %% of the limit", e->label, model_dtype(b->session->model),
                                row->test->name, f.gflops, f.gbps, f.limit_pct));
    }
}

/* The tests of the first bench stand at the foot, below their points. */
static void draw_names(Roofline *r)
{
    const Bench *b = r->benches[0];
    for (int i = 0; i < b->test_count; i++) {
        if (!(intensity(&b->tests[i]) > 0)) continue;
        const double x = at_x(r, intensity(&b->tests[i])), y = TOP + HEIGHT - 8 - (i % 3) * 14;
        svg_text(&r->svg, x, y, (SvgFont){ .size = 11, .anchor = SVG_MIDDLE, .bold = true }, b->tests[i].name);
    }
}

Text bench_roofline(const Bench *const *benches, int n)
{
    const Bench *b = benches[0];
    Roofline r = { .benches = benches, .n = n, .threads = b->threads[b->thread_count - 1] };
    choose_axes(&r);
    r.svg = svg_new(b->arena, PAGE_WIDTH, PAGE_HEIGHT, arena_format(b->arena, "Roofline of %s", b->session->model->name));
    svg_printf(&r.svg, LEFT, 30, (SvgFont){ .size = 15, .bold = true }, "Roofline, %d thread%s", r.threads, r.threads > 1 ? "s" : "");
    svg_text(&r.svg, LEFT, 48, (SvgFont){ .fill = SVG_FAINT },
             "on a slope all that a level of memory gives is used; on the flat roof, all multiply-adds of f32");
    draw_grid(&r);
    draw_roof(&r);
    for (int k = 0, number = 0; k < n; k++)
        for (int i = 0; i < benches[k]->engine_count; i++) draw_engine(&r, k, &benches[k]->engines[i], number++);
    draw_names(&r);
    svg_finish(&r.svg);
    return r.svg.text;
}
