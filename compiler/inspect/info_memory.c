/* info_memory.c: a picture of a Plan's memory.
 *
 * On the left are bars: the packed weights, the state, one slot, the part of the scratch that
 * outlives a block, and the taps; those without bytes are left out. On the right are panels for the
 * programs: their operations from left to right, the bytes of the scratch above that part from
 * bottom to top, and a rectangle for each buffer, as wide as its lifetime. Every bar and panel has
 * its own scale. */
#include <string.h>

#include "info.h"
#include "svg.h"

enum { MARGIN = 28, TITLE = 74, BAR = 136, BAR_GAP = 16, PANEL_LEFT = 64, PLOT = 280,
       ABOVE = 50, BELOW = 84, PANEL_WIDTH = 1120, OP_LEAST = 30, LEGEND = 830 };

/* The blocks that no earlier panel has; a program whose first block is in an earlier panel shares
 * that panel. */
typedef struct Panel { const char *title; const PlanBlock **blocks; int count, ops; size_t bytes; } Panel;

typedef struct Picture {
    Arena *arena;
    const Plan *plan;
    Svg svg;
    Panel *panels;  int panel_count;
    size_t kept;                    /* bytes of the scratch that outlive blocks */
    double width, height, op_width;
} Picture;

static const SvgFont title_font = { .size = 22, .bold = true }, sub_font = { .size = 13, .fill = SVG_FAINT },
                     head_font = { .size = 13, .bold = true }, words_font = { .size = 12, .fill = SVG_FAINT },
                     label_font = { .size = 11 };

/* ---- what belongs where ----------------------------------------------------------------------------------- */

static Panel *panel_of(Picture *x, const PlanBlock *b)
{
    for (int i = 0; i < x->panel_count; i++)
        for (int j = 0; j < x->panels[i].count; j++)
            if (x->panels[i].blocks[j] == b) return &x->panels[i];
    return NULL;
}

static void add_program(Picture *x, const PlanProgram *p)
{
    const char *name = program_name(p->program->kind);
    Panel *panel = panel_of(x, p->runs[0].block);
    if (panel) panel->title = arena_format(x->arena, "%s, %s", panel->title, name);
    else {
        const size_t blocks = (size_t)x->plan->block_count;
        panel = &x->panels[x->panel_count++];
        *panel = (Panel){ .title = name,
                          .blocks = arena_array(x->arena, blocks, sizeof *panel->blocks) };
    }
    for (int i = 0; i < p->count; i++) {
        const PlanBlock *b = p->runs[i].block;
        if (panel_of(x, b)) continue;
        panel->blocks[panel->count++] = b;
        panel->ops += b->op_count;
        for (int k = 0; k < b->buffer_count; k++) {
            const size_t end = b->buffers[k]->offset + b->buffers[k]->bytes - x->kept;
            if (end > panel->bytes) panel->bytes = end;
        }
    }
}

static size_t kept_bytes(const Plan *p)
{
    size_t end = 0;
    for (int i = 0; i < p->buffer_count; i++) {
        const Buffer *b = p->buffers[i];
        if (b->place == PLACE_SCRATCH && b->offset + pad64(b->bytes) > end) end = b->offset + pad64(b->bytes);
    }
    return end;
}

/* The part of the block whose operation first writes a buffer; else "cross-attention" if the name
 * of its tensor says so; else NULL. */
static const char *part_of(const PlanBlock *b, const Buffer *x)
{
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < 3; k++)
            if (b->ops[i].out[k] == x && b->ops[i].node->part) return b->ops[i].node->part;
    return strstr(x->tensor->name, "cross_attn") ? "cross-attention" : NULL;
}

typedef struct Role { const char *part, *words; int colour; } Role;
static const Role roles[] = {
    { "self-attention", "self-attention", SVG_BLUE }, { "cross-attention", "cross-attention", SVG_TEAL },
    { "feed-forward", "feed-forward", SVG_ORANGE }, { NULL, "other", SVG_GREEN },
};
enum { ROLES = sizeof roles / sizeof *roles };

static SvgColour colour_of(const PlanBlock *b, const Buffer *x)
{
    const char *part = part_of(b, x);
    if (buffer_is_per_thread(x)) return svg_colours[SVG_VIOLET];
    for (int i = 0; i < ROLES - 1; i++)
        if (part && strcmp(part, roles[i].part) == 0) return svg_colours[roles[i].colour];
    return svg_colours[SVG_GREEN];
}

/* ---- rectangles with labels ------------------------------------------------------------------------------- */

/* Write the name, and the bytes if there is room. A tall, narrow rectangle gets rotated text,
 * and a small one gets smaller text. */
static void label(Picture *x, double left, double top, double w, double h, const char *name, const char *bytes)
{
    const double middle = left + w / 2, centre = top + h / 2;
    const SvgFont sizes[] = { { .size = 11, .anchor = SVG_MIDDLE }, { .size = 9, .anchor = SVG_MIDDLE }, { .size = 7.5, .anchor = SVG_MIDDLE },
                              { .size = 6, .anchor = SVG_MIDDLE } };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES; i++) {
        SvgFont f = sizes[i], faint = f;
        faint.fill = SVG_FAINT;
        const double wide = svg_width(name, f) + 4;
        if (wide <= w && h >= f.size) {
            bool two = h >= 2 * f.size + 7 && svg_width(bytes, f) + 4 <= w;
            svg_text(&x->svg, middle, centre + f.size * (two ? -0.15 : 0.34), f, name);
            if (two) svg_text(&x->svg, middle, centre + f.size * 1.05, faint, bytes);
            return;
        }
        if (wide <= h && w >= f.size + 2) {
            f.turn = -90;
            svg_text(&x->svg, middle + f.size * 0.36, centre, f, name);
            return;
        }
    }
    const char *cut = svg_fit(x->arena, name, sizes[2], w - 2);
    if (h >= 8.5 && *cut) svg_text(&x->svg, middle, centre + 2.7, sizes[2], cut);
}

static void box(Picture *x, double left, double top, double w, double h, SvgColour c, const char *name, size_t bytes, const char *more)
{
    const char *tip = arena_format(x->arena, "%s: %s bytes%s", name, info_number(x->arena, (double)bytes), more);
    const SvgStyle style = { .fill = c.fill, .stroke = c.edge, .width = h < 3 ? 0.4 : 1, .radius = h > 8 && w > 8 ? 2 : 0 };
    svg_group(&x->svg, tip);
    svg_rect(&x->svg, left, top, w, h, style, NULL);
    label(x, left, top, w, h, name, text_bytes(x->arena, bytes));
    svg_group_end(&x->svg);
}

/* ---- bars ------------------------------------------------------------------------------------------------- */

/* A bar; pieces are added from the bottom up. */
typedef struct Bar { double left, bottom, height; size_t whole; } Bar;

static Bar bar_begin(Picture *x, double *left, const char *title, size_t whole)
{
    const double top = TITLE + ABOVE, bottom = x->height - MARGIN - 30;
    const Bar b = { *left, bottom, bottom - top, whole };
    svg_text(&x->svg, b.left + BAR / 2.0, top - 24, (SvgFont){ .size = 13, .bold = true, .anchor = SVG_MIDDLE }, title);
    svg_text(&x->svg, b.left + BAR / 2.0, top - 8, (SvgFont){ .size = 11, .fill = SVG_FAINT, .anchor = SVG_MIDDLE }, text_bytes(x->arena, whole));
    svg_rect(&x->svg, b.left, top, BAR, b.height, (SvgStyle){ .fill = SVG_PANEL, .stroke = SVG_GRID }, NULL);
    *left += BAR + BAR_GAP;
    return b;
}

/* A piece of `count` equal parts, which `unit` names. */
static void bar_parts(Picture *x, const Bar *b, size_t offset, size_t bytes, int count, const char *unit, SvgColour c, const char *name)
{
    const double scale = b->height / (double)b->whole, h = (double)bytes * scale, top = b->bottom - (double)offset * scale - h;
    const char *more = count > 1 ? arena_format(x->arena, ", %d %s of %s", count, unit, info_number(x->arena, (double)bytes / count)) : "";
    if (!bytes) return;
    box(x, b->left, top, BAR, h, c, count > 1 ? arena_format(x->arena, "%s ×%d", name, count) : name, bytes, more);
    for (int i = 1; i < count && h / count > 3; i++) {
        const double y = top + h * i / count;
        svg_line(&x->svg, b->left, y, b->left + 5, y, (SvgStyle){ .stroke = c.edge });
        svg_line(&x->svg, b->left + BAR - 5, y, b->left + BAR, y, (SvgStyle){ .stroke = c.edge });
    }
}

static void bar_piece(Picture *x, const Bar *b, size_t offset, size_t bytes, int layers, SvgColour c, const char *name)
{
    bar_parts(x, b, offset, bytes, layers, "layers", c, name);
}

static void weights_bar(Picture *x, double *left)
{
    const Plan *p = x->plan;
    if (!p->weights_bytes) return;
    const Bar bar = bar_begin(x, left, "weights", p->weights_bytes);
    for (int i = 0; i < p->block_count; i++) {
        const PlanBlock *b = p->blocks[i];
        const int layers = b->block->layers ? b->block->layers : 1;
        bar_piece(x, &bar, b->weights_offset, b->weights_stride * (size_t)layers, layers, svg_colours[SVG_YELLOW], b->block->name);
    }
    for (int i = 0; i < p->packed_count; i++)
        if (!p->packed[i]->block) bar_piece(x, &bar, p->packed[i]->offset, p->packed[i]->bytes, 1, svg_colours[SVG_GREY], p->packed[i]->name);
}

static void state_bar(Picture *x, double *left)
{
    const Plan *p = x->plan;
    const Bar bar = bar_begin(x, left, "state", p->state_bytes);
    bar_piece(x, &bar, 0, p->header_bytes, 1, svg_colours[SVG_GREY], "header");
    bar_parts(x, &bar, p->slots_offset, p->slot_bytes * (size_t)p->options.slots, p->options.slots, "slots", svg_colours[SVG_TEAL], "slot");
    bar_piece(x, &bar, p->scratch_offset, x->kept, 1, svg_colours[SVG_GREEN], "kept scratch");
    bar_piece(x, &bar, p->scratch_offset + x->kept, plan_lists_offset(p) - x->kept, 1, svg_colours[SVG_BLUE], "scratch of blocks");
    for (int i = 0; i < p->list_count; i++)
        bar_piece(x, &bar, p->scratch_offset + p->lists[i].offset, plan_list_bytes(&p->lists[i]), 1, svg_colours[SVG_VIOLET], p->lists[i].name);
    bar_piece(x, &bar, p->taps_offset, p->tap_bytes, 1, svg_colours[SVG_ROSE], "taps");
}

static void buffers_bar(Picture *x, double *left, const char *title, Place place, size_t whole, int colour)
{
    const Plan *p = x->plan;
    if (!whole) return;
    const Bar bar = bar_begin(x, left, title, whole);
    for (int i = 0; i < p->buffer_count; i++) {
        const Buffer *b = p->buffers[i];
        const int layers = b->layers ? b->layers : 1;
        const size_t bytes = b->layers ? b->layer_stride * (size_t)layers : b->bytes;
        if (b->place == place) bar_piece(x, &bar, b->offset, bytes, layers, svg_colours[colour], b->name);
    }
}

static double bars(Picture *x)
{
    double left = MARGIN;
    weights_bar(x, &left);
    state_bar(x, &left);
    buffers_bar(x, &left, "one slot", PLACE_SLOT, x->plan->slot_bytes, SVG_TEAL);
    buffers_bar(x, &left, "kept scratch", PLACE_SCRATCH, x->kept, SVG_GREEN);
    buffers_bar(x, &left, "taps", PLACE_TAP, x->plan->tap_bytes, SVG_ROSE);
    return left;
}

static int bar_count(const Plan *p, size_t kept) { return 1 + (p->weights_bytes > 0) + (p->slot_bytes > 0) + (kept > 0) + (p->tap_bytes > 0); }

/* ---- panels ----------------------------------------------------------------------------------------------- */

/* Set *first and *last to the range of operations of a phase. */
static void phase_span(const PlanBlock *b, int phase, int *first, int *last)
{
    *first = b->op_count;
    *last = -1;
    for (int i = 0; i < b->op_count; i++) {
        if (b->ops[i].phase != phase) continue;
        if (i < *first) *first = i;
        *last = i;
    }
}

static const char *op_words(Picture *x, const PlanBlock *b, const PlanOp *op)
{
    const char *name = op->result->name, *stem = b->block->stem;
    const size_t n = strlen(stem);
    if (strncmp(name, "rows.", 5) == 0) name += 5;
    if (n && strncmp(name, stem, n) == 0 && name[n] == '.') name += n + 1;
    if (kernel_is_store(op->kernel)) name = arena_format(x->arena, "store %s", op->out[0]->variable);
    return name;
}

static void axis(Picture *x, const Panel *panel, double left, double top, double right)
{
    size_t step = 64;
    while (panel->bytes / step > 4) step *= 2;
    for (size_t at = 0; at <= panel->bytes; at += step) {
        const double y = top + PLOT - PLOT * (double)at / (double)panel->bytes;
        svg_line(&x->svg, left, y, right, y, (SvgStyle){ .stroke = SVG_GRID });
        svg_text(&x->svg, left - 6, y + 3.5, (SvgFont){ .size = 10, .fill = SVG_FAINT, .anchor = SVG_RIGHT }, at ? text_bytes(x->arena, at) : "0");
    }
}

static void block_names(Picture *x, const PlanBlock *b, double left, double top, double w)
{
    const Block *block = b->block;
    const char *name = block->layers > 1 ? arena_format(x->arena, "%s ×%d", block->name, block->layers) : block->name, *shown = name;
    SvgFont f = { .size = 11, .bold = true, .anchor = SVG_MIDDLE };
    if (svg_width(shown, f) > w - 4 && strchr(shown, '_')) shown = strchr(shown, '_') + 1;
    if (svg_width(shown, f) > w - 4) f.size = 9;
    svg_group(&x->svg, arena_format(x->arena, "%s: %s", name, block->doc));
    svg_rect(&x->svg, left + 1, top - 20, w - 2, 18, (SvgStyle){ .fill = svg_colours[SVG_GREY].fill, .radius = 3 }, NULL);
    svg_text(&x->svg, left + w / 2, top - 7, f, svg_fit(x->arena, shown, f, w - 4));
    svg_group_end(&x->svg);
    for (int i = 0; i < b->op_count; i++) {
        const double at = left + ((double)i + 0.5) * x->op_width;
        svg_line(&x->svg, at, top + PLOT, at, top + PLOT + 4, (SvgStyle){ .stroke = svg_colours[SVG_GREY].edge });
        svg_text(&x->svg, at + 3, top + PLOT + 11, (SvgFont){ .size = 9, .anchor = SVG_RIGHT, .turn = -42 },
                 svg_fit(x->arena, op_words(x, b, &b->ops[i]), (SvgFont){ .size = 9 }, 112));
    }
}

static void block_buffers(Picture *x, const Panel *panel, const PlanBlock *b, double left, double top)
{
    int first, last, unused;
    for (int phase = 1; phase < b->phases; phase++) {
        phase_span(b, phase, &first, &last);
        const double at = left + first * x->op_width;
        svg_line(&x->svg, at, top, at, top + PLOT, (SvgStyle){ .stroke = svg_colours[SVG_GREY].edge, .width = 0.7, .dash = "3 3" });
    }
    for (int i = 0; i < b->buffer_count; i++) {
        const Buffer *f = b->buffers[i];
        const double scale = PLOT / (double)panel->bytes, h = (double)f->bytes * scale;
        const double bottom = top + PLOT - (double)(f->offset - x->kept) * scale;
        phase_span(b, f->first_phase, &first, &unused);
        phase_span(b, f->last_phase, &unused, &last);
        const char *more = arena_format(x->arena, " at %s, phases %d to %d of %s", info_number(x->arena, (double)f->offset), f->first_phase,
                                        f->last_phase, b->block->name);
        box(x, left + first * x->op_width + 1, bottom - h, (last - first + 1) * x->op_width - 2, h, colour_of(b, f), f->variable, f->bytes, more);
    }
}

/* The text after a panel's title; words_at is its distance from the panel's left edge. */
static const char *panel_words(const Picture *x, const Panel *panel)
{
    const bool largest = panel->bytes && panel->bytes + x->kept + 63 >= x->plan->scratch_bytes;
    return arena_format(x->arena, "%s of scratch%s", text_bytes(x->arena, panel->bytes),
                        largest ? ", the largest amount, so this much is reserved" : "");
}

static double words_at(const Panel *panel) { return svg_width(panel->title, head_font) + 8; }

static void draw_panel(Picture *x, const Panel *panel, double left, double top)
{
    const double right = left + panel->ops * x->op_width;
    svg_text(&x->svg, left, top - 28, head_font, panel->title);
    svg_text(&x->svg, left + words_at(panel), top - 28, words_font, panel_words(x, panel));
    svg_rect(&x->svg, left, top, right - left, PLOT, (SvgStyle){ .fill = SVG_PANEL }, NULL);
    if (panel->bytes) axis(x, panel, left, top, right);
    double at = left;
    for (int i = 0; i < panel->count; i++) {
        const PlanBlock *b = panel->blocks[i];
        block_names(x, b, at, top, b->op_count * x->op_width);
        if (panel->bytes) block_buffers(x, panel, b, at, top);
        svg_line(&x->svg, at, top, at, top + PLOT, (SvgStyle){ .stroke = svg_colours[SVG_GREY].edge });
        at += b->op_count * x->op_width;
    }
    svg_line(&x->svg, at, top, at, top + PLOT, (SvgStyle){ .stroke = svg_colours[SVG_GREY].edge });
    svg_line(&x->svg, left, top + PLOT, right, top + PLOT, (SvgStyle){ .stroke = SVG_LINE });
}

/* ---- the page --------------------------------------------------------------------------------------------- */

static void legend(Picture *x, double left)
{
    const double y = x->height - MARGIN + 4;
    if (left + LEGEND > x->width) left = MARGIN;
    for (int i = 0; i <= ROLES; i++) {
        const char *words = i < ROLES ? roles[i].words : "attention's scratch, a piece per thread";
        const SvgColour c = svg_colours[i < ROLES ? roles[i].colour : SVG_VIOLET];
        svg_rect(&x->svg, left, y - 10, 14, 12, (SvgStyle){ .fill = c.fill, .stroke = c.edge, .radius = 2 }, NULL);
        svg_text(&x->svg, left + 20, y, label_font, words);
        left += 44 + svg_width(words, label_font);
    }
    svg_line(&x->svg, left, y - 4, left + 22, y - 4, (SvgStyle){ .stroke = svg_colours[SVG_GREY].edge, .dash = "3 3" });
    svg_text(&x->svg, left + 28, y, label_font, "barrier");
}

static const char *heading(const Picture *x) { return arena_format(x->arena, "%s: memory plan", x->plan->graph->model->name); }

static const char *subheading(const Picture *x)
{
    const Plan *p = x->plan;
    Arena *a = x->arena;
    const char *sequences = p->options.slots == 1 ? "one sequence" : arena_format(a, "%d sequences", p->options.slots);
    return arena_format(a, "%s bytes of weights, read only; %s bytes of state for %s. Each bar and panel has its own scale.",
                        info_number(a, (double)p->weights_bytes), info_number(a, (double)p->state_bytes), sequences);
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Set the page's size: wide enough for bars and the widest panel, and for every line of text. */
static void measure(Picture *x)
{
    int most = 1;
    for (int i = 0; i < x->panel_count; i++)
        if (x->panels[i].ops > most) most = x->panels[i].ops;
    x->op_width = (double)PANEL_WIDTH / most;
    if (x->op_width < OP_LEAST) x->op_width = OP_LEAST;
    if (x->op_width > 64) x->op_width = 64;
    const double left = MARGIN + bar_count(x->plan, x->kept) * (BAR + BAR_GAP) + PANEL_LEFT;
    double right = larger(left + most * x->op_width, MARGIN + LEGEND);
    right = larger(right, MARGIN + larger(svg_width(heading(x), title_font), svg_width(subheading(x), sub_font)));
    for (int i = 0; i < x->panel_count; i++)
        right = larger(right, left + words_at(&x->panels[i]) + svg_width(panel_words(x, &x->panels[i]), words_font));
    x->width = right + MARGIN;
    x->height = larger(TITLE + x->panel_count * (ABOVE + PLOT + BELOW) + MARGIN + 20, 560);
}

Text info_memory_picture(Arena *a, const Plan *p)
{
    Picture x = { .arena = a, .plan = p, .panels = arena_array(a, (size_t)p->program_count, sizeof *x.panels), .kept = kept_bytes(p) };
    for (int i = 0; i < p->program_count; i++) add_program(&x, &p->programs[i]);
    measure(&x);
    x.svg = svg_new(a, x.width, x.height, heading(&x));
    svg_text(&x.svg, MARGIN, 36, title_font, heading(&x));
    svg_text(&x.svg, MARGIN, 58, sub_font, subheading(&x));
    const double left = bars(&x) + PANEL_LEFT;
    for (int i = 0; i < x.panel_count; i++) draw_panel(&x, &x.panels[i], left, TITLE + ABOVE + i * (ABOVE + PLOT + BELOW));
    legend(&x, left);
    svg_finish(&x.svg);
    return x.svg.text;
}
