/* picture_svg.c: a Picture as an SVG page: a title, the scale, and for each section a grid of maps,
 * layers down and heads across. Cells are square, as large as possible with all heads of a layer
 * side by side; if that makes them illegible, fewer heads are side by side. */
#include "picture.h"

#include <math.h>

#include "svg.h"

enum { PAGE = 1280, LEAST_PAGE = 640, MARGIN = 32, GAP = 24, CAPTION = 20, LAYER = 64, HEADER = 132, HEADING = 46 };
/* If there are few cells, they show numbers. */
enum { LEAST_CELL = 8, USUAL_CELL = 18, SPOKEN_CELL = 46, FEW = 6, TALLEST = 1600 };

/* Measures of a section, in pixels. */
typedef struct Grid {
    double cell, label, left, top;  /* label: size of the font; left, top: room for labels */
    double width, height;           /* of a map with its labels and caption */
    int across, step;               /* maps side by side; every step-th label is drawn */
    bool upright, numbers;          /* column labels are horizontal; cells show their weight */
} Grid;

typedef struct Page { Arena *arena; Svg svg; const Picture *picture; } Page;

/* ---- measures ----------------------------------------------------------------------------------------------- */

static double longest(const char *const *labels, int n, double size)
{
    int columns = 1;
    for (int i = 0; i < n; i++) {
        const int own = picture_text_columns(labels[i]);
        if (own > columns) columns = own;
    }
    return 0.61 * size * columns;
}

static int most_heads(const PictureSection *s)
{
    int most = 1;
    for (int i = 0, run = 0; i < s->count; i++) {
        run = i && s->maps[i].layer == s->maps[i - 1].layer ? run + 1 : 1;
        if (run > most) most = run;
    }
    return most;
}

/* Set all measures that depend on the size of a cell. */
static void measure_labels(Grid *g, const PictureSection *s)
{
    g->label = fmin(12, fmax(6, 0.8 * g->cell));
    g->step = (int)ceil((g->label + 1) / g->cell);
    g->left = longest(s->row_labels, s->rows, g->label) + 6;
    double across = longest(s->column_labels, s->columns, g->label);
    g->upright = across <= g->cell - 2;
    g->top = (g->upright ? g->label : across) + 6;
    g->width = fmax(g->left + s->columns * g->cell, 60);
    g->height = CAPTION + g->top + s->rows * g->cell;
}

/* The number of maps that fit side by side. */
static int fitting(Grid *g, const PictureSection *s, double room)
{
    measure_labels(g, s);
    return (int)((room + GAP) / (g->width + GAP));
}

/* Place all heads of a layer side by side if cells stay legible, else as many as fit. */
static Grid measure(const PictureSection *s, bool numbers)
{
    const double room = PAGE - 2 * MARGIN - (s->layered ? LAYER : 0);
    Grid g = { .numbers = numbers, .across = most_heads(s) };
    const double most = g.numbers ? SPOKEN_CELL : fmin(USUAL_CELL, fmax(LEAST_CELL / 2, TALLEST / s->rows));
    for (g.cell = most; g.cell > 1; g.cell--) {
        const int fit = fitting(&g, s, room);
        if (fit >= g.across) break;
        if (g.cell <= LEAST_CELL && fit >= 1) g.across = fit;
    }
    while (g.cell < most) {             /* fewer side by side allow larger cells */
        Grid larger = g;
        larger.cell++;
        if (fitting(&larger, s, room) < g.across) break;
        g = larger;
    }
    measure_labels(&g, s);
    g.numbers = g.numbers && g.cell >= 34;
    return g;
}

/* True if all maps are so small that their cells may show numbers. */
static bool few_cells(const Picture *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->sections[i].rows > FEW || p->sections[i].columns > FEW) return false;
    return true;
}

static int lines_of(const PictureSection *s, const Grid *g)
{
    int lines = 0;
    for (int i = 0, run = 0; i < s->count; i++) {
        run = i && s->maps[i].layer == s->maps[i - 1].layer ? run + 1 : 0;
        if (run % g->across == 0) lines++;
    }
    return lines;
}

static double section_height(const PictureSection *s, const Grid *g)
{
    return HEADING + lines_of(s, g) * (g->height + GAP);
}

static double section_width(const PictureSection *s, const Grid *g)
{
    const double words = svg_width(s->doc, (SvgFont){ .size = 13 });
    return fmax((s->layered ? LAYER : 0) + g->across * (g->width + GAP) - GAP, words);
}

/* ---- one map ------------------------------------------------------------------------------------------------ */

static void draw_labels(Page *p, const PictureSection *s, const Grid *g)
{
    const double top = CAPTION + g->top, middle = 0.36 * g->label;
    for (int r = 0; r < s->rows; r += g->step)
        svg_text(&p->svg, g->left - 5, top + (r + 0.5) * g->cell + middle, (SvgFont){ .size = g->label, .mono = true, .anchor = SVG_RIGHT },
                 s->row_labels[r]);
    for (int c = 0; c < s->columns; c += g->step) {
        const double x = g->left + (c + 0.5) * g->cell;
        if (g->upright) svg_text(&p->svg, x, top - 5, (SvgFont){ .size = g->label, .mono = true, .anchor = SVG_MIDDLE }, s->column_labels[c]);
        else svg_text(&p->svg, x + middle, top - 5, (SvgFont){ .size = g->label, .mono = true, .turn = -90 }, s->column_labels[c]);
    }
}

/* The gap between cells shows the background, as do masked cells. */
static void draw_cell(Page *p, const PictureSection *s, const Grid *g, int r, int c, double weight)
{
    const double x = g->left + c * g->cell, y = CAPTION + g->top + r * g->cell, gap = g->cell >= LEAST_CELL ? 1 : 0;
    const char *tip = arena_format(p->arena, "%s (%d) looks at %s (%d): %.9g", s->row_labels[r], r, s->column_labels[c], c, weight);
    svg_rect(&p->svg, x, y, g->cell - gap, g->cell - gap, (SvgStyle){ .fill = picture_colour(p->arena, weight) }, tip);
    if (g->numbers)
        svg_printf(&p->svg, x + (g->cell - gap) / 2, y + g->cell / 2 + 4,
                   (SvgFont){ .size = 12, .anchor = SVG_MIDDLE, .fill = weight > 0.45 ? SVG_PAPER : SVG_INK }, "%.3f", weight);
}

static void draw_map(Page *p, const PictureSection *s, const Grid *g, const PictureMap *m, double x, double y)
{
    svg_group_at(&p->svg, x, y, arena_format(p->arena, "%s, head %d", m->name, m->head));
    svg_printf(&p->svg, g->left, 12, (SvgFont){ .fill = SVG_FAINT }, "head %d", m->head);
    draw_labels(p, s, g);
    svg_rect(&p->svg, g->left - 1, CAPTION + g->top - 1, s->columns * g->cell + 1, s->rows * g->cell + 1, (SvgStyle){ .fill = SVG_GRID }, NULL);
    svg_heat(&p->svg);
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->columns && !(s->causal && c > r); c++)
            draw_cell(p, s, g, r, c, (double)m->values[(size_t)r * (size_t)s->columns + (size_t)c]);
    svg_group_end(&p->svg);
    svg_group_end(&p->svg);
}

/* ---- the page ----------------------------------------------------------------------------------------------- */

static void draw_section(Page *p, const PictureSection *s, const Grid *g, double y)
{
    svg_text(&p->svg, MARGIN, y, (SvgFont){ .size = 17, .bold = true }, s->heading);
    svg_text(&p->svg, MARGIN, y + 20, (SvgFont){ .size = 13, .fill = SVG_FAINT }, s->doc);
    const double left = MARGIN + (s->layered ? LAYER : 0);
    y += HEADING - GAP - g->height;
    for (int i = 0, run = 0; i < s->count; i++) {
        const bool next_layer = !i || s->maps[i].layer != s->maps[i - 1].layer;
        run = next_layer ? 0 : run + 1;
        if (run % g->across == 0) y += g->height + GAP;
        if (next_layer && s->layered)
            svg_printf(&p->svg, MARGIN, y + 12, (SvgFont){ .size = 13, .bold = true }, "layer %d", s->maps[i].layer);
        draw_map(p, s, g, &s->maps[i], left + run % g->across * (g->width + GAP), y);
    }
}

static bool any_causal(const Picture *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->sections[i].causal) return true;
    return false;
}

static void draw_scale(Page *p, double x, double y)
{
    enum { BAR = 240, PIECES = 60, THICK = 12 };
    const double piece = (double)BAR / PIECES;
    svg_group_at(&p->svg, x, y, "the scale of every map");
    svg_rect(&p->svg, -1, -1, BAR + 2, THICK + 2, (SvgStyle){ .fill = SVG_LINE }, NULL);
    svg_heat(&p->svg);
    for (int i = 0; i < PIECES; i++)
        svg_rect(&p->svg, i * piece, 0, piece, THICK, (SvgStyle){ .fill = picture_colour(p->arena, (i + 0.5) / PIECES) }, NULL);
    svg_group_end(&p->svg);
    for (int i = 0; i <= 4; i++)
        svg_printf(&p->svg, i * BAR / 4.0, THICK + 14, (SvgFont){ .size = 11, .anchor = SVG_MIDDLE, .fill = SVG_FAINT }, "%g", i / 4.0);
    const SvgFont font = { .size = 12 };
    static const char *const words = "weight; every row sums to 1";
    svg_text(&p->svg, BAR + 16, 10, font, words);
    if (any_causal(p->picture)) {
        const double at = BAR + 36 + svg_width(words, font);
        svg_rect(&p->svg, at, 0, THICK, THICK, (SvgStyle){ .fill = SVG_GRID }, NULL);
        svg_text(&p->svg, at + THICK + 7, 10, font, "masked: comes later");
    }
    svg_group_end(&p->svg);
}

/* dates   "3rd of May 2019" → "2019-05-03" */
static void draw_title(Page *p, double width)
{
    const Picture *t = p->picture;
    const SvgFont model = { .size = 24, .bold = true }, text = { .size = 18, .mono = true };
    svg_text(&p->svg, MARGIN, MARGIN + 12, model, t->model);
    if (t->input) {
        const char *line = t->answer ? arena_format(p->arena, "%s → %s", t->input, t->answer) : t->input;
        const double at = MARGIN + svg_width(t->model, model) + 16;
        svg_text(&p->svg, at, MARGIN + 12, text, svg_fit(p->arena, line, text, width - MARGIN - at));
    }
    svg_printf(&p->svg, MARGIN, MARGIN + 36, (SvgFont){ .size = 13, .fill = SVG_FAINT }, "Attention: where each row looks%s%s",
               *t->signs ? ".  " : "", t->signs);
}

Text picture_svg(Arena *a, const Picture *p)
{
    Grid *grids = arena_array(a, (size_t)p->count, sizeof *grids);
    double width = LEAST_PAGE, y = HEADER;
    for (int i = 0; i < p->count; i++) {
        grids[i] = measure(&p->sections[i], few_cells(p));
        width = fmax(width, section_width(&p->sections[i], &grids[i]) + 2 * MARGIN);
        y += section_height(&p->sections[i], &grids[i]) + GAP;
    }
    const char *title = arena_format(a, "%s: attention%s%s%s%s", p->model, p->input ? " of " : "", p->input ? p->input : "",
                                     p->answer ? " → " : "", p->answer ? p->answer : "");
    Page page = { .arena = a, .svg = svg_new(a, ceil(width), ceil(y), title), .picture = p };
    draw_title(&page, width);
    draw_scale(&page, MARGIN, MARGIN + 54);
    y = HEADER + 16;
    for (int i = 0; i < p->count; i++) {
        draw_section(&page, &p->sections[i], &grids[i], y);
        y += section_height(&p->sections[i], &grids[i]) + GAP;
    }
    svg_finish(&page.svg);
    return page.svg.text;
}
