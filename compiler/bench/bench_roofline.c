/* bench_roofline.c: plot the achieved GFLOP/s against FLOPs per byte read, under the machine's
 * limits. A label is placed where it covers no other label, no limit and no point; if there is no
 * such place, it is left out. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

enum { LEFT = 58, TOP = 22, FOOT = 48, RIGHT = 14, MOST_BOXES = 4096 };

/* A logarithmic axis from 2^low to 2^high, over `length` pixels. */
typedef struct Axis { double low, high, length; } Axis;

static double place(const Axis *a, double x) { return (log2(x) - a->low) / (a->high - a->low) * a->length; }

static void widen(Axis *a, double x)
{
    if (!(x > 0)) return;
    if (floor(log2(x)) < a->low) a->low = floor(log2(x));
    if (ceil(log2(x)) > a->high) a->high = ceil(log2(x));
}

/* A rectangle centred at (x, y), rotated clockwise by `turn` radians. */
typedef struct Box { double x, y, half_width, half_height, turn; } Box;

typedef struct Roofline {
    Svg svg;
    const Bench *const *benches;  int n;
    int threads;
    Axis x, y;
    Box *boxes;  int count;         /* labels may not cover them */
} Roofline;

static double bottom(const Roofline *r) { return TOP + r->y.length; }
static double right(const Roofline *r) { return LEFT + r->x.length; }
static double at_x(const Roofline *r, double x) { return LEFT + place(&r->x, x); }
static double at_y(const Roofline *r, double y) { return bottom(r) - place(&r->y, y); }
static double peak_of(const Roofline *r) { return r->benches[0]->limits.peak[r->threads] / 1e9; }

/* The bandwidth of a level of memory in GB/s; 0 if there is no such level. */
static double slope_of(const Roofline *r, int level)
{
    return r->benches[0]->limits.bandwidth[level][r->threads] / 1e9;
}

static double intensity(const BenchTest *t) { return t->bytes > 0 ? t->flops / t->bytes : 0; }

static bool is_drawn(const Roofline *r, const BenchRow *row)
{
    return row->threads == r->threads && intensity(row->test) > 0;
}

/* Fit the axes to every point, the upper end of every slope, and the peak. */
static void choose_axes(Roofline *r, int width)
{
    r->x = (Axis){ -2, 4, width - LEFT - RIGHT };
    r->y = (Axis){ 3, 4, width < 500 ? 280 : 380 };
    for (int k = 0; k < r->n; k++)
        for (int i = 0; i < r->benches[k]->row_count; i++) {
            const BenchRow *row = &r->benches[k]->rows[i];
            if (!is_drawn(r, row)) continue;
            widen(&r->x, intensity(row->test));
            widen(&r->y, bench_figures(r->benches[k], row).gflops);
        }
    for (int i = 0; i < LIMIT_LEVELS; i++)
        if (slope_of(r, i) > 0) widen(&r->x, peak_of(r) / slope_of(r, i));
    widen(&r->y, peak_of(r) * 1.2);
}

/* ---- room for labels ------------------------------------------------------------------------- */

static void add_box(Roofline *r, Box b)
{
    if (r->count < MOST_BOXES) r->boxes[r->count++] = b;
}

/* Half the extent of a box along the unit vector (x, y). */
static double reach(const Box *b, double x, double y)
{
    const double c = cos(b->turn), s = sin(b->turn);
    return b->half_width * fabs(c * x + s * y) + b->half_height * fabs(c * y - s * x);
}

/* True if an axis of `a` separates the boxes. */
static bool apart_by(const Box *a, const Box *b)
{
    for (int side = 0; side < 2; side++) {
        const double turn = a->turn + side * acos(0), x = cos(turn), y = sin(turn);
        const double between = fabs((b->x - a->x) * x + (b->y - a->y) * y);
        if (between > reach(a, x, y) + reach(b, x, y)) return true;
    }
    return false;
}

static bool is_free(const Roofline *r, const Box *b)
{
    const double x = reach(b, 1, 0), y = reach(b, 0, 1);
    if (b->x - x < LEFT || b->x + x > right(r)) return false;
    if (b->y - y < TOP || b->y + y > bottom(r)) return false;
    for (int i = 0; i < r->count; i++)
        if (!apart_by(&r->boxes[i], b) && !apart_by(b, &r->boxes[i])) return false;
    return true;
}

static Box line_box(double x1, double y1, double x2, double y2)
{
    const double x = x2 - x1, y = y2 - y1;
    return (Box){ x1 + x / 2, y1 + y / 2, hypot(x, y) / 2, 1.5, atan2(y, x) };
}

/* Draw text centred at (x, y). If it does not fit there, draw nothing and return false. */
static bool put_label(Roofline *r, double x, double y, double turn, SvgFont font, const char *text)
{
    const double size = font.size, down = 0.36 * size;
    const Box b = { x, y, svg_width(text, font) / 2 + 2, size * 0.62, turn };
    if (!is_free(r, &b)) return false;
    add_box(r, b);
    font.anchor = SVG_MIDDLE;
    font.turn = turn * 180 / acos(-1);
    svg_text(&r->svg, x - down * sin(turn), y + down * cos(turn), font, text);
    return true;
}

/* ---- the drawing ----------------------------------------------------------------------------- */

static const char *power(Arena *a, int n)
{
    return arena_format(a, n < 0 ? "1/%d" : "%d", 1 << abs(n));
}

/* Draw the grid. Every line has a number, but on a narrow x axis only every other line has one. */
static void draw_grid(Roofline *r)
{
    Arena *a = r->benches[0]->arena;
    Svg *s = &r->svg;
    const SvgFont font = { .size = 12, .fill = SVG_FAINT };
    const int step = r->x.length / (r->x.high - r->x.low) < 34 ? 2 : 1;
    for (int i = (int)r->x.low; i <= (int)r->x.high; i++) {
        const double x = at_x(r, exp2(i));
        SvgFont middle = font;
        middle.anchor = SVG_MIDDLE;
        svg_line(s, x, TOP, x, bottom(r), (SvgStyle){ .stroke = SVG_GRID });
        if ((i - (int)r->x.low) % step == 0) svg_text(s, x, bottom(r) + 17, middle, power(a, i));
    }
    for (int i = (int)r->y.low; i <= (int)r->y.high; i++) {
        const double y = at_y(r, exp2(i));
        SvgFont end = font;
        end.anchor = SVG_RIGHT;
        svg_line(s, LEFT, y, right(r), y, (SvgStyle){ .stroke = SVG_GRID });
        svg_text(s, LEFT - 8, y + 4, end, power(a, i));
    }
    svg_text(s, LEFT + r->x.length / 2, bottom(r) + 39, (SvgFont){ .anchor = SVG_MIDDLE },
             "FLOPs for each byte of weights and caches");
    svg_text(s, 8, 12, (SvgFont){ .size = 12 }, "GFLOP/s");
}

typedef struct Line { double x1, y1, x2, y2; } Line;

/* The slope of a level, from the left or lower edge up to the peak. */
static Line slope_line(const Roofline *r, int level)
{
    const double bandwidth = slope_of(r, level), peak = peak_of(r);
    const double from = fmax(exp2(r->x.low), exp2(r->y.low) / bandwidth);
    return (Line){ at_x(r, from), at_y(r, from * bandwidth),
                   at_x(r, peak / bandwidth), at_y(r, peak) };
}

static void draw_line(Roofline *r, Line l)
{
    svg_line(&r->svg, l.x1, l.y1, l.x2, l.y2, (SvgStyle){ .stroke = SVG_LINE, .width = 1.5 });
    add_box(r, line_box(l.x1, l.y1, l.x2, l.y2));
}

static void draw_roof(Roofline *r)
{
    double least = exp2(r->x.high);
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        if (!(slope_of(r, i) > 0)) continue;
        draw_line(r, slope_line(r, i));
        least = fmin(least, peak_of(r) / slope_of(r, i));
    }
    draw_line(r, (Line){ at_x(r, least), at_y(r, peak_of(r)), right(r), at_y(r, peak_of(r)) });
}

/* Label a slope along its line, above or below, wherever there is room. */
static void name_slope(Roofline *r, int level)
{
    enum { PLACES = 24 };
    const Line l = slope_line(r, level);
    const SvgFont font = { .size = 12 };
    const double turn = atan2(l.y2 - l.y1, l.x2 - l.x1);
    const char *text = arena_format(r->benches[0]->arena, "%s %.0f GB/s", limit_level_names[level],
                                    slope_of(r, level));
    for (int i = 0; i < 2 * PLACES; i++) {
        const double part = (i % PLACES + 0.5) / PLACES, away = i < PLACES ? -11 : 11;
        const double x = l.x1 + part * (l.x2 - l.x1) - away * sin(turn);
        const double y = l.y1 + part * (l.y2 - l.y1) + away * cos(turn);
        if (put_label(r, x, y, turn, font, text)) return;
    }
}

static void name_peak(Roofline *r)
{
    const SvgFont font = { .size = 12 };
    const char *text = arena_format(r->benches[0]->arena, "%.0f GFLOP/s", peak_of(r));
    const double half = svg_width(text, font) / 2 + 4;
    for (int i = 0; i < 40; i++) {
        const double x = right(r) - half - 12 * (i / 2), away = i % 2 ? 12 : -12;
        if (put_label(r, x, at_y(r, peak_of(r)) + away, 0, font, text)) return;
    }
}

/* Draw the points of bench k. Points of the same engine and dtype share a colour. */
static void draw_points(Roofline *r, int k)
{
    const Bench *b = r->benches[k];
    for (int i = 0; i < b->row_count; i++) {
        const BenchRow *row = &b->rows[i];
        const BenchFigures f = bench_figures(b, row);
        if (!is_drawn(r, row) || !(f.gflops > 0)) continue;
        const double x = at_x(r, intensity(row->test)), y = at_y(r, f.gflops);
        const SvgColour c = bench_colour(bench_colour_number(r->benches, k, row));
        const char *tip = arena_format(b->arena,
                                       "%s %s, %s: %.1f GFLOP/s, %.1f GB/s, %.0f %% of the limit",
                                       row->engine->label, model_dtype(b->session->model),
                                       row->test->name,
                                       f.gflops, f.gbps, f.limit_pct);
        svg_circle(&r->svg, x, y, 5, (SvgStyle){ .fill = c.edge, .stroke = SVG_INK }, tip);
        add_box(r, (Box){ x, y, 7, 7, 0 });
    }
}

/* Label the tests of the first bench at the x of their points, as near to the x axis as room
 * allows. */
static void name_tests(Roofline *r)
{
    const Bench *b = r->benches[0];
    const SvgFont font = { .size = 12, .bold = true };
    for (int i = 0; i < b->test_count; i++) {
        const double by = intensity(&b->tests[i]);
        if (!(by > 0)) continue;
        const char *name = b->tests[i].name;
        const double half = svg_width(name, font) / 2 + 3;
        const double x = fmin(fmax(at_x(r, by), LEFT + half), right(r) - half);
        for (int k = 0; k < 40; k++)
            if (put_label(r, x, bottom(r) - 11 - 8 * k, 0, font, name)) break;
    }
}

/* The legend of engines and dtypes: entries from left to right, in lines. If `drawn` is false,
 * only measure. Returns the height of the legend. */
enum { KEY_LINE = 20 };
static double draw_key(Roofline *r, double top, bool drawn)
{
    const SvgFont font = { .size = 12 };
    double x = LEFT, y = top;
    for (int k = 0; k < r->n; k++) {
        const Bench *b = r->benches[k];
        for (int i = 0; i < b->engine_count; i++) {
            const BenchRow first = { .engine = &b->engines[i] };
            const SvgColour c = bench_colour(bench_colour_number(r->benches, k, &first));
            const char *text = arena_format(b->arena, "%s, %s", b->engines[i].label,
                                            model_dtype(b->session->model));
            const double width = 16 + svg_width(text, font) + 20;
            if (x + width > right(r) && x > LEFT) {
                x = LEFT;
                y += KEY_LINE;
            }
            if (drawn) {
                svg_circle(&r->svg, x + 5, y + 6, 5, (SvgStyle){ .fill = c.edge, .stroke = SVG_INK },
                           NULL);
                svg_text(&r->svg, x + 16, y + 10, font, text);
            }
            x += width;
        }
    }
    return y + KEY_LINE - top;
}

typedef Svg SvgBegin(Arena *a, double width, double height, const char *title);

static Text draw(const Bench *const *benches, int n, int threads, int width, bool file)
{
    const Bench *b = benches[0];
    Roofline r = { .benches = benches, .n = n, .threads = threads };
    SvgBegin *begin = file ? svg_new : svg_inline;
    r.boxes = arena_array(b->arena, MOST_BOXES, sizeof *r.boxes);
    choose_axes(&r, width);
    const char *title = arena_format(b->arena, "Roofline of %s, %d thread%s",
                                     b->session->model->name, threads,
                                     threads > 1 ? "s" : "");
    const double key = bottom(&r) + FOOT, height = file ? draw_key(&r, key, false) + 8 : 0;
    r.svg = begin(b->arena, width, key + height, title);
    draw_grid(&r);
    draw_roof(&r);
    for (int k = 0; k < n; k++) draw_points(&r, k);
    name_peak(&r);
    for (int i = 0; i < LIMIT_LEVELS; i++)
        if (slope_of(&r, i) > 0) name_slope(&r, i);
    name_tests(&r);
    if (file) draw_key(&r, key, true);
    svg_finish(&r.svg);
    return r.svg.text;
}

Text bench_roofline(const Bench *const *benches, int n, int threads, int width)
{
    return draw(benches, n, threads, width, false);
}

Text bench_roofline_file(const Bench *const *benches, int n, int threads)
{
    enum { WIDTH = 720 };
    return draw(benches, n, threads, WIDTH, true);
}
