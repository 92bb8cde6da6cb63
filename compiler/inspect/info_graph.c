/* info_graph.c: a picture of a Graph: a column for each of the programs encode, step and run, a
 * panel for each block, a box for each operation, from top to bottom.
 *
 * Layers that share a block are drawn once, with a count. In a block, an operation is one rank
 * below the lowest of those it reads. If the direct way down is blocked, the arrow goes along the
 * side of the panel instead. */
#include <string.h>

#include "info.h"
#include "svg.h"

enum { MARGIN = 30, TITLE = 96, BOX_WIDTH = 136, BOX_HEIGHT = 34, BOX_GAP = 22, RANK = 66, HEAD = 30, FOOT = 18, SIDE = 54, DETOUR = 11,
       BLOCK_GAP = 34, COLUMN_GAP = 96 };

/* A node of a block, or a tensor that comes from outside the block. */
typedef struct Shape {
    const Node *node;               /* NULL: a state or an input */
    const Tensor *tensor;           /* its result */
    int rank;
    double x, y;    /* centre; x is relative to the middle of the block, later to the page */
} Shape;

typedef struct Frame {
    const Block *block;
    Shape *shapes;  int count, ranks;
    double reach;                   /* from the middle to the edge of the outermost box */
    double middle, top, height;
    int detours;                      /* arrows drawn at the side so far */
} Frame;

typedef struct Column {
    ProgramKind program;
    const char *title;
    Frame *frames;
    int count;
    double width, left;
} Column;

typedef struct Drawing {
    Arena *arena;
    const Graph *graph;
    Svg svg;
    Column columns[2];  int column_count;
    double height;
    bool one_row;                   /* the program being drawn has one row */
} Drawing;

/* ---- words ------------------------------------------------------------------------------------------------ */

static const char *shape_of(Drawing *g, const Tensor *t)
{
    Text s = text_new(g->arena);
    for (int r = 0; r < t->rank; r++) {
        const Dim *d = &t->dim[r];
        bool one = d->count == COUNT_ROWS && g->one_row;
        text_add(&s, r ? " × " : "");
        text_add(&s, one ? "1" : d->count == COUNT_CONSTANT ? arena_format(g->arena, "%lld", (long long)d->bound) : count_name(d->count));
    }
    return s.data;
}

/* The name without the stem of its block. */
static const char *short_name(const Block *b, const Tensor *t)
{
    const size_t n = strlen(b->stem);
    return n && strncmp(t->name, b->stem, n) == 0 && t->name[n] == '.' ? t->name + n + 1 : t->name;
}

static const char *word(const char *list, int i)
{
    int n;
    return field_words(list, &n)[i];
}

static const char *node_title(Drawing *g, const Node *n)
{
    Arena *a = g->arena;
    switch (n->op) {
    case OP_LINEAR:     return arena_format(a, "linear %lld → %lld", (long long)n->in[1]->dim[1].bound, (long long)n->in[1]->dim[0].bound);
    case OP_NORM:       return arena_format(a, "%s norm", word("norms", n->kind));
    case OP_ADD:        return "+";
    case OP_ACTIVATION: return word("activations", n->kind);
    case OP_GATE:       return arena_format(a, "%s(a) × b", word("activations", n->kind));
    case OP_ATTENTION:  return arena_format(a, "attention, %d head%s", n->heads, n->heads == 1 ? "" : "s");
    case OP_APPEND:     return n->values ? "append to values" : "append to keys";
    case OP_EMBED:      return "embedding";
    case OP_POSITION:   return "+ position";
    case OP_ROTARY:     return "rotary positions";
    case OP_CUSTOM:     return n->custom->name;
    default:            return op_rows[n->op].name;
    }
}

static const char *node_tip(Drawing *g, const Node *n)
{
    Text t = text_new(g->arena);
    text_printf(&t, "%s: %s", n->out[0]->name, op_rows[n->op].doc);
    for (int i = 0; i < NODE_INPUTS; i++)
        if (n->in[i]) text_printf(&t, "\n%s  %s", n->in[i]->name, shape_of(g, n->in[i]));
    for (int i = 0; n->custom && i < n->custom->attribute_count; i++)
        text_printf(&t, "\n%s %.6g", n->custom->attributes[i].name, n->attributes[i]);
    if (n->op == OP_ATTENTION) text_printf(&t, "\nscale %.6g, %d head%s of keys and values", n->scale, n->kv_heads, n->kv_heads == 1 ? "" : "s");
    return t.data;
}

static SvgColour node_colour(const Node *n)
{
    switch (n->op) {
    case OP_ATTENTION: return svg_colours[SVG_ROSE];
    case OP_LINEAR:    return svg_colours[SVG_BLUE];
    case OP_NORM:      return svg_colours[SVG_GREEN];
    case OP_APPEND:    return svg_colours[SVG_YELLOW];
    case OP_EMBED:
    case OP_POSITION:
    case OP_ROTARY:    return svg_colours[SVG_VIOLET];
    case OP_ACTIVATION:
    case OP_GATE:      return svg_colours[SVG_ORANGE];
    default:           return svg_colours[SVG_GREY];
    }
}

/* ---- layout of a block ------------------------------------------------------------------------------------ */

/* Params are not drawn. Of integer inputs, such as positions, only the ids of an embedding are. A
 * state is drawn where it is read, not where rows are appended to it. */
static bool is_drawn(const Node *n, int input)
{
    const Tensor *t = n->in[input];
    if (!t || t->kind == TENSOR_PARAM) return false;
    if (t->kind == TENSOR_INPUT && t->integer) return n->op == OP_EMBED;
    if (t->kind == TENSOR_STATE) return n->op != OP_APPEND;
    return true;
}

static Shape *maker_of(const Frame *f, const Tensor *t)
{
    for (int i = 0; i < f->count; i++) {
        const Shape *s = &f->shapes[i];
        if (s->tensor == t) return &f->shapes[i];
        for (int r = 1; s->node && r < 3; r++)
            if (s->node->out[r] == t) return &f->shapes[i];
    }
    return NULL;
}

/* Add a shape for each tensor from outside the block that is not carried. It is placed one rank
 * above its first reader, left of the nodes there. */
static void add_sources(Frame *f)
{
    const int nodes = f->count;
    for (int i = 0; i < nodes; i++) {
        const Node *n = f->shapes[i].node;
        for (int k = 0; k < NODE_INPUTS; k++) {
            const Tensor *t = n->in[k];
            if (!is_drawn(n, k) || t == f->block->carry_in || maker_of(f, t)) continue;
            f->shapes[f->count++] = (Shape){ .tensor = t, .rank = -1 };
        }
    }
}

static int rank_of_inputs(const Frame *f, const Node *n)
{
    int rank = 0;
    for (int k = 0; k < NODE_INPUTS; k++) {
        const Shape *s = is_drawn(n, k) ? maker_of(f, n->in[k]) : NULL;
        if (s && s->rank + 1 > rank) rank = s->rank + 1;
    }
    return rank;
}

/* Rank the nodes in order of execution. Then move each source to the rank above its first
 * reader. */
static void rank_shapes(Frame *f)
{
    for (int i = 0; i < f->count; i++)
        if (f->shapes[i].node) f->shapes[i].rank = rank_of_inputs(f, f->shapes[i].node);
    int least = 0;
    for (int i = 0; i < f->count; i++) {
        Shape *s = &f->shapes[i];
        if (s->node) continue;
        s->rank = f->count;
        for (int j = 0; j < f->count; j++)
            for (int k = 0; f->shapes[j].node && k < NODE_INPUTS; k++)
                if (f->shapes[j].node->in[k] == s->tensor && f->shapes[j].rank - 1 < s->rank) s->rank = f->shapes[j].rank - 1;
        if (s->rank < least) least = s->rank;
    }
    for (int i = 0; i < f->count; i++) {
        f->shapes[i].rank -= least;
        if (f->shapes[i].rank + 1 > f->ranks) f->ranks = f->shapes[i].rank + 1;
    }
}

/* The desired x: the mean of the inputs' x, or, for an addition, of the inputs one rank up; without
 * any, the middle of the block. */
static double wish(const Frame *f, const Shape *s)
{
    double sum = 0;
    int n = 0;
    for (int k = 0; s->node && k < NODE_INPUTS; k++) {
        const Shape *from = is_drawn(s->node, k) ? maker_of(f, s->node->in[k]) : NULL;
        if (!from || (s->node->op == OP_ADD && from->rank != s->rank - 1)) continue;
        sum += from->x;
        n++;
    }
    return n ? sum / n : 0;
}

/* Place the shapes of a rank side by side, as close to their desired x as order and width allow. */
static void place_rank(Frame *f, int rank)
{
    enum { MAX_SIDE_BY_SIDE = 64, STEP = BOX_WIDTH + BOX_GAP };
    Shape *row[MAX_SIDE_BY_SIDE];
    int n = 0;
    double shift = 0;
    for (int i = 0; i < f->count && n < MAX_SIDE_BY_SIDE; i++) {
        if (f->shapes[i].rank != rank) continue;
        Shape *s = &f->shapes[i];
        s->x = wish(f, s);
        int at = n++;
        for (; at > 0 && (row[at - 1]->x > s->x || (!s->node && row[at - 1]->node && row[at - 1]->x >= s->x)); at--) row[at] = row[at - 1];
        row[at] = s;
    }
    for (int i = 1; i < n; i++) {
        const double least = row[i - 1]->x + STEP;
        if (row[i]->x >= least) continue;
        const double push = least - row[i]->x;
        shift += push * (n - i) / n;
        for (int j = i; j < n; j++) row[j]->x += push;
    }
    for (int i = 0; i < n; i++) row[i]->x -= shift;
}

static void measure(Frame *f)
{
    for (int i = 0; i < f->count; i++) {
        const double edge = (f->shapes[i].x < 0 ? -f->shapes[i].x : f->shapes[i].x) + BOX_WIDTH / 2.0;
        if (edge > f->reach) f->reach = edge;
    }
    f->height = HEAD + f->ranks * RANK + FOOT;
}

static void lay_out(Drawing *g, Frame *f, const Block *b)
{
    *f = (Frame){ .block = b, .shapes = arena_array(g->arena, (size_t)b->count * (1 + NODE_INPUTS), sizeof *f->shapes) };
    for (int i = 0; i < b->count; i++) f->shapes[f->count++] = (Shape){ .node = b->nodes[i], .tensor = b->nodes[i]->out[0] };
    add_sources(f);
    rank_shapes(f);
    for (int r = 0; r < f->ranks; r++) place_rank(f, r);
    measure(f);
}

/* ---- layout of the page ------------------------------------------------------------------------------------ */

static void add_column(Drawing *g, ProgramKind program, const char *title)
{
    const Program *p = NULL;
    for (int i = 0; i < g->graph->program_count; i++)
        if (g->graph->programs[i].kind == program) p = &g->graph->programs[i];
    if (!p) return;
    Column *c = &g->columns[g->column_count++];
    *c = (Column){ .program = program, .title = title, .frames = arena_array(g->arena, (size_t)p->count, sizeof *c->frames), .count = p->count };
    double reach = 0;
    for (int i = 0; i < p->count; i++) {
        lay_out(g, &c->frames[i], p->runs[i].block);
        if (c->frames[i].reach > reach) reach = c->frames[i].reach;
    }
    c->width = 2 * (reach + SIDE);
}

static double place_column(Column *c, double left)
{
    double top = TITLE + 30;
    c->left = left;
    for (int i = 0; i < c->count; i++) {
        Frame *f = &c->frames[i];
        f->middle = left + c->width / 2;
        f->top = top;
        for (int k = 0; k < f->count; k++) {
            Shape *s = &f->shapes[k];
            s->x += f->middle;
            s->y = top + HEAD + s->rank * RANK + RANK / 2.0;
        }
        top += f->height + BLOCK_GAP;
    }
    return top;
}

/* ---- arrows ------------------------------------------------------------------------------------------------ */

static const SvgStyle arrow = { .stroke = SVG_LINE, .width = 1.3, .arrow = true };

/* True if no box between ranks `from` and `to` is at x. */
static bool is_free(const Frame *f, double x, int from, int to)
{
    for (int i = 0; i < f->count; i++) {
        const Shape *s = &f->shapes[i];
        const double away = s->x < x ? x - s->x : s->x - x;
        if (s->rank > from && s->rank < to && away < BOX_WIDTH / 2.0 + 6) return false;
    }
    return true;
}

/* Draw an arrow from (x, y), at rank `from`, to the top of a box, or to its side if the way is
 * blocked. */
static void draw_arrow(Drawing *g, Frame *f, double x, double y, int from, const Shape *to, int port, int ports)
{
    const double end = to->y - BOX_HEIGHT / 2.0, at = to->x + (ports > 1 ? (port - (ports - 1) / 2.0) * 26 : 0);
    const double bend = end - (RANK - BOX_HEIGHT) * 0.5;
    if (is_free(f, x, from, to->rank)) {
        const double turn = bend > y ? bend : y;
        const char *way = arena_format(g->arena, "M %.1f %.1f L %.1f %.1f C %.1f %.1f %.1f %.1f %.1f %.1f", x, y, x, turn, x, end - 6,
                                       at, turn + 4, at, end);
        svg_path(&g->svg, way, arrow, NULL);
        return;
    }
    const double side = f->middle + f->reach + 14 + DETOUR * (f->detours++ % 3), below = f->top + HEAD + (from + 1.5) * RANK - BOX_HEIGHT / 2.0;
    const double first = y + (below - y) / 2;
    const double into = to->x + BOX_WIDTH / 2.0, low = to->y - 8;
    svg_path(&g->svg, arena_format(g->arena, "M %.1f %.1f L %.1f %.1f Q %.1f %.1f %.1f %.1f L %.1f %.1f Q %.1f %.1f %.1f %.1f "
                                   "L %.1f %.1f Q %.1f %.1f %.1f %.1f L %.1f %.1f", x, y, x, first - 6, x, first, x + 6, first, side - 8, first, side,
                                   first, side, first + 8, side, low, side, to->y, side - 8, to->y, into, to->y), arrow, NULL);
}

/* True if input `k` has its own arrow: a tensor that a node reads twice has only one. */
static bool has_arrow(const Node *n, int k)
{
    for (int i = 0; i < k; i++)
        if (n->in[i] == n->in[k] && is_drawn(n, i)) return false;
    return is_drawn(n, k);
}

static int arrows_into(const Node *n)
{
    int count = 0;
    for (int k = 0; k < NODE_INPUTS; k++) count += has_arrow(n, k);
    return count;
}

/* The index of an arrow among those into a box, from left to right. */
static int port_of(const Frame *f, const Shape *to, double x)
{
    int port = 0;
    for (int k = 0; k < NODE_INPUTS; k++) {
        if (!has_arrow(to->node, k)) continue;
        const Shape *from = maker_of(f, to->node->in[k]);
        port += (from ? from->x : f->middle) < x - 0.5;
    }
    return port;
}

static void node_arrows(Drawing *g, Frame *f, const Shape *s)
{
    const int ports = s->node->op == OP_ADD ? 1 : arrows_into(s->node);
    for (int k = 0; k < NODE_INPUTS; k++) {
        if (!has_arrow(s->node, k)) continue;
        const Shape *from = maker_of(f, s->node->in[k]);
        const double x = from ? from->x : f->middle, y = from ? from->y + BOX_HEIGHT / 2.0 : f->top + HEAD - 4;
        draw_arrow(g, f, x, y, from ? from->rank : -1, s, ports > 1 ? port_of(f, s, x) : 0, ports);
    }
}

/* ---- boxes ------------------------------------------------------------------------------------------------- */

/* The names of a shape's results: the first, and others that are outputs. */
static const char *names_of(Drawing *g, const Block *b, const Shape *s)
{
    const char *names = short_name(b, s->tensor);
    for (int r = 1; s->node && r < 3; r++)
        if (s->node->out[r] && s->node->out[r]->output) names = arena_format(g->arena, "%s, %s", names, short_name(b, s->node->out[r]));
    return names;
}

static void draw_box(Drawing *g, const Block *b, const Shape *s)
{
    const double left = s->x - BOX_WIDTH / 2.0, top = s->y - BOX_HEIGHT / 2.0;
    const SvgFont title = { .size = 11.5, .bold = true, .anchor = SVG_MIDDLE }, name = { .size = 9.5, .anchor = SVG_MIDDLE, .fill = SVG_FAINT };
    bool attention = s->node && s->node->op == OP_ATTENTION, source = !s->node;
    const SvgColour c = source ? svg_colours[s->tensor->kind == TENSOR_STATE ? SVG_YELLOW : SVG_GREY] : node_colour(s->node);
    const char *words = !source ? node_title(g, s->node) : s->tensor->kind == TENSOR_STATE ? "kept" : "input";
    svg_group(&g->svg, source ? arena_format(g->arena, "%s  %s", s->tensor->name, shape_of(g, s->tensor)) : node_tip(g, s->node));
    svg_rect(&g->svg, left, top, BOX_WIDTH, BOX_HEIGHT,
             (SvgStyle){ .fill = c.fill, .stroke = c.edge, .width = attention ? 2.5 : 1.2, .radius = source ? 17 : 6 }, NULL);
    svg_text(&g->svg, s->x, s->y - 2, title, svg_fit(g->arena, words, title, BOX_WIDTH - 4));
    svg_text(&g->svg, s->x, s->y + 11, name, svg_fit(g->arena, names_of(g, b, s), name, BOX_WIDTH - 6));
    svg_group_end(&g->svg);
    svg_printf(&g->svg, s->x + 6, s->y + BOX_HEIGHT / 2.0 + 11, (SvgFont){ .size = 9, .fill = SVG_FAINT }, "%s%s", shape_of(g, s->tensor),
               s->tensor->output ? ", output" : "");
}

/* ---- parts and panels -------------------------------------------------------------------------------------- */

/* Tint the ranks of each part of a block, and write its name. */
static void draw_parts(Drawing *g, const Frame *f)
{
    for (int i = 0; i < f->count; i++) {
        const char *part = f->shapes[i].node ? f->shapes[i].node->part : NULL;
        bool known = !part;
        int least = f->ranks, most = 0;
        for (int j = 0; j < f->count && part; j++) {
            const Shape *s = &f->shapes[j];
            if (!s->node || !s->node->part || strcmp(s->node->part, part) != 0) continue;
            known |= j < i;
            if (s->rank < least) least = s->rank;
            if (s->rank > most) most = s->rank;
        }
        if (known) continue;
        const double top = f->top + HEAD + least * RANK + 2, h = (most - least + 1) * RANK - 3;
        const double half = f->reach + SIDE - 10, left = f->middle - half;
        svg_rect(&g->svg, left, top, 2 * half, h, (SvgStyle){ .fill = SVG_PAPER, .radius = 8 }, NULL);
        svg_text(&g->svg, left + 17, top + h / 2, (SvgFont){ .size = 12, .fill = SVG_FAINT, .anchor = SVG_MIDDLE, .turn = -90 }, part);
    }
}

static void draw_frame(Drawing *g, const Column *c, Frame *f)
{
    const Block *b = f->block;
    const SvgFont head = { .size = 13, .bold = true };
    svg_group(&g->svg, b->doc);
    for (int under = b->layers > 1 ? 2 : 0; under >= 0; under--) {      /* stacked layers */
        const SvgStyle sheet = { .fill = under ? SVG_PANEL : svg_colours[SVG_GREY].fill,
                                 .stroke = SVG_RIM, .radius = 10 };
        svg_rect(&g->svg, c->left + 4 * under, f->top + 4 * under, c->width, f->height, sheet, NULL);
    }
    svg_text(&g->svg, c->left + 12, f->top + 19, head, b->name);
    if (b->layers > 1)
        svg_printf(&g->svg, c->left + c->width - 12, f->top + 21, (SvgFont){ .size = 18, .bold = true, .anchor = SVG_RIGHT }, "×%d", b->layers);
    svg_group_end(&g->svg);
    draw_parts(g, f);
    for (int i = 0; i < f->count; i++)
        if (f->shapes[i].node) node_arrows(g, f, &f->shapes[i]);
    for (int i = 0; i < f->count; i++) draw_box(g, b, &f->shapes[i]);
}

/* Draw the line between two panels for the value that is carried. */
static void draw_carried(Drawing *g, const Frame *above, const Frame *below)
{
    const Tensor *t = below->block->carry_in;
    if (!t || !above->block->carry_out) return;
    const Shape *from = maker_of(above, above->block->carry_out);
    const double x = from ? from->x : above->middle, y = from ? from->y + BOX_HEIGHT / 2.0 : above->top + above->height;
    svg_line(&g->svg, x, y, below->middle, below->top + HEAD - 3, (SvgStyle){ .stroke = arrow.stroke, .width = arrow.width });
    svg_text(&g->svg, below->middle + 8, below->top - 12, (SvgFont){ .size = 11, .fill = SVG_INK }, shape_of(g, t));
}

static void draw_memory_arrow(Drawing *g, const Column *c, int frame, const Shape *from, const Shape *to)
{
    const Frame *f = &c->frames[frame];
    bool values = from->node->values;
    const double gap = c->left + c->width + 24 + 8 * ((2 * (c->count - 1 - frame) + values) % 8), low = f->top + f->height + (values ? 32 : 21);
    const double into = to->y - BOX_HEIGHT / 2.0, over = into - (values ? 22 : 12);
    const double at = to->x - BOX_WIDTH / 4.0;
    const char *way = arena_format(g->arena, "M %.1f %.1f L %.1f %.1f L %.1f %.1f L %.1f %.1f L %.1f %.1f L %.1f %.1f", from->x,
                                   from->y + BOX_HEIGHT / 2.0, from->x, low, gap, low, gap, over, at, over, at, into);
    svg_path(&g->svg, way, (SvgStyle){ .stroke = svg_colours[SVG_YELLOW].edge, .width = 1.8, .arrow = true }, from->tensor->name);
}

/* Draw arrows from where `encode` stores keys and values to the boxes that show them in `step`. */
static void draw_memory(Drawing *g)
{
    if (g->column_count < 2) return;
    const Column *c = &g->columns[0], *d = &g->columns[1];
    for (int i = 0; i < d->count; i++)
        for (int k = 0; k < d->frames[i].count; k++) {
            const Shape *to = &d->frames[i].shapes[k];
            for (int m = 0; m < c->count && !to->node; m++)
                for (int j = 0; j < c->frames[m].count; j++) {
                    const Shape *from = &c->frames[m].shapes[j];
                    if (!from->node || from->node->op != OP_APPEND || from->node->in[0] != to->tensor) continue;
                    draw_memory_arrow(g, c, m, from, to);
                }
        }
}

static void legend(Drawing *g)
{
    static const struct { const char *words; int colour; } rows[] = {
        { "attention", SVG_ROSE }, { "linear", SVG_BLUE }, { "norm", SVG_GREEN }, { "activation", SVG_ORANGE },
        { "embedding, positions", SVG_VIOLET }, { "kept from call to call", SVG_YELLOW } };
    double left = MARGIN;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const SvgColour c = svg_colours[rows[i].colour];
        const SvgFont f = { .size = 11 };
        svg_rect(&g->svg, left, TITLE - 22, 14, 12, (SvgStyle){ .fill = c.fill, .stroke = c.edge, .radius = 3 }, NULL);
        svg_text(&g->svg, left + 19, TITLE - 12, f, rows[i].words);
        left += 34 + svg_width(rows[i].words, f);
    }
}

Text info_graph_picture(Arena *a, const Graph *graph)
{
    Drawing g = { .arena = a, .graph = graph };
    const Model *m = graph->model;
    add_column(&g, PROGRAM_ENCODE, "encode: a source, once");
    add_column(&g, PROGRAM_STEP, "step: one token");
    add_column(&g, PROGRAM_RUN, "run");
    double left = MARGIN;
    for (int i = 0; i < g.column_count; i++) {
        const double end = place_column(&g.columns[i], left);
        left += g.columns[i].width + COLUMN_GAP;
        if (end > g.height) g.height = end;
    }
    const double width = left - COLUMN_GAP + MARGIN + 8;
    g.svg = svg_new(a, width < 700 ? 700 : width, g.height + MARGIN, arena_format(a, "%s: graph", m->name));
    svg_printf(&g.svg, MARGIN, 38, (SvgFont){ .size = 22, .bold = true }, "%s", m->name);
    svg_printf(&g.svg, MARGIN, 58, (SvgFont){ .size = 13, .fill = SVG_FAINT }, "%s parameters", info_number(a, (double)model_parameters(m)));
    legend(&g);
    for (int i = 0; i < g.column_count; i++) {
        Column *c = &g.columns[i];
        g.one_row = c->program == PROGRAM_STEP;
        svg_text(&g.svg, c->left, TITLE + 18, (SvgFont){ .size = 15, .bold = true }, c->title);
        for (int k = 0; k < c->count; k++) draw_frame(&g, c, &c->frames[k]);
        for (int k = 1; k < c->count; k++) draw_carried(&g, &c->frames[k - 1], &c->frames[k]);
    }
    draw_memory(&g);
    svg_finish(&g.svg);
    return g.svg.text;
}
