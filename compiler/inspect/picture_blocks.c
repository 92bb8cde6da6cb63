/* picture_blocks.c: a Picture as lines of text. A cell is one or two characters wide and one line
 * high. Maps are side by side as far as the width allows; a wider map is cut into pieces. */
#include "picture.h"

#include <stdio.h>
#include <string.h>

/* A shade is used for weights from `least` on. For the block characters, that is halfway between
 * the share of a cell that the block covers and that of the next lighter one. */
typedef struct Shade { const char *ink; double least; } Shade;
static const Shade shades[] = { { " ", 0 }, { "·", 0.02 }, { "░", 0.125 }, { "▒", 0.375 }, { "▓", 0.625 }, { "█", 0.875 } };
enum { SHADES = sizeof shades / sizeof *shades };

/* How the maps of a section are laid out, in columns. */
typedef struct Sheet { int cell, gutter, chunk, label_lines; } Sheet;
/* Columns first to end - 1 of a map. */
typedef struct Piece { const PictureMap *map; int first, end, width; const char *caption; } Piece;

typedef struct Writer {
    Arena *arena;
    Text text;
    const Picture *picture;
    int width;
    PictureInk ink;
} Writer;

enum { SPACE = 2 };     /* between pieces */

/* ---- text --------------------------------------------------------------------------------------------------- */

static void pad(Text *t, int columns) { if (columns > 0) text_printf(t, "%*s", columns, ""); }

/* End a line, without trailing spaces. */
static void end_line(Text *t)
{
    while (t->size && t->data[t->size - 1] == ' ') t->data[--t->size] = 0;
    text_add(t, "\n");
}

/* Bytes of the next character with its combining marks; 0 at the end. */
static size_t cluster(const char *s)
{
    size_t n = strlen(s), size = 0;
    for (int32_t c; size < n;) {
        int next = utf8_next(s + size, n - size, &c);
        char one[8] = "";
        if (!next) next = 1;
        memcpy(one, s + size, (size_t)next);
        if (size && picture_text_columns(one) > 0) break;
        size += (size_t)next;
    }
    return size;
}

/* Add a line, cut to the width and marked with "…" if it is longer. */
static void add_fitted(Writer *w, const char *s)
{
    if (picture_text_columns(s) <= w->width) {
        text_printf(&w->text, "%s\n", s);
        return;
    }
    int used = 1;
    for (size_t n; (n = cluster(s)); s += n) {
        const char *one = arena_copy(w->arena, s, n);
        used += picture_text_columns(one);
        if (used > w->width) break;
        text_add(&w->text, one);
    }
    text_add(&w->text, "…\n");
}

/* ---- measures ----------------------------------------------------------------------------------------------- */

static int longest(const char *const *labels, int n)
{
    int columns = 1;
    for (int i = 0; i < n; i++) {
        int own = picture_text_columns(labels[i]);
        if (own > columns) columns = own;
    }
    return columns;
}

/* The number of characters of a label, which are stacked vertically; *wide is raised to the
 * widest. */
static int stacked(const char *label, int *wide)
{
    int lines = 0;
    for (size_t n; (n = cluster(label)); label += n, lines++) {
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)n, label);
        int columns = picture_text_columns(one);
        if (columns > *wide) *wide = columns;
    }
    return lines;
}

static int heads_of_a_layer(const PictureSection *s)
{
    int n = 1;
    while (n < s->count && s->maps[n].layer == s->maps[0].layer) n++;
    return n;
}

/* Cells are two columns wide, and so square, if a column label has a wide character, or if the
 * heads of a layer still fit on one line. */
static Sheet measure(const Writer *w, const PictureSection *s)
{
    Sheet sheet = { .cell = 1, .gutter = longest(s->row_labels, s->rows) + 1 };
    for (int c = 0; c < s->columns; c++) {
        int lines = stacked(s->column_labels[c], &sheet.cell);
        if (lines > sheet.label_lines) sheet.label_lines = lines;
    }
    if (sheet.gutter > w->width / 2) sheet.gutter = w->width / 2;
    if (heads_of_a_layer(s) * (sheet.gutter + 2 * s->columns + SPACE) - SPACE <= w->width) sheet.cell = 2;
    sheet.chunk = (w->width - sheet.gutter) / sheet.cell;
    return sheet;
}

static Piece piece(const Writer *w, const PictureSection *s, const Sheet *sheet, const PictureMap *m, int first)
{
    int end = first + sheet->chunk < s->columns ? first + sheet->chunk : s->columns;
    const char *caption = arena_format(w->arena, "head %d", m->head);
    if (end - first < s->columns) caption = arena_format(w->arena, "%s, columns %d to %d", caption, first, end - 1);
    int width = sheet->gutter + (end - first) * sheet->cell, words = picture_text_columns(caption) + sheet->gutter;
    return (Piece){ m, first, end, words > width ? words : width, caption };
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

static const char *shade(double weight)
{
    const char *ink = shades[0].ink;
    for (int i = 1; i < SHADES; i++)
        if (weight >= shades[i].least) ink = shades[i].ink;
    return ink;
}

static void add_cell(Writer *w, double weight, int columns)
{
    if (w->ink) {
        const int colour = picture_terminal_colour(weight, w->ink == PICTURE_ON_DARK);
        text_printf(&w->text, "\033[48;5;%dm%*s", colour, columns, "");
        return;
    }
    for (int i = 0; i < columns; i++) text_add(&w->text, shade(weight));
}

static void add_row(Writer *w, const PictureSection *s, const Sheet *sheet, const Piece *p, int r)
{
    const int used = picture_text_columns(s->row_labels[r]);
    const int end = s->causal && r + 1 < p->end ? r + 1 : p->end;
    pad(&w->text, sheet->gutter - 1 - used);
    text_printf(&w->text, "%s ", s->row_labels[r]);
    for (int c = p->first; c < end; c++) add_cell(w, (double)p->map->values[(size_t)r * (size_t)s->columns + (size_t)c], sheet->cell);
    if (w->ink && end > p->first) text_add(&w->text, "\033[0m");
    const int cells = end > p->first ? end - p->first : 0;
    pad(&w->text, p->width - sheet->gutter - cells * sheet->cell);
}

/* Add line `line` of the column labels, which are aligned at the bottom, above the map. */
static void add_labels(Writer *w, const PictureSection *s, const Sheet *sheet, const Piece *p, int line)
{
    pad(&w->text, sheet->gutter);
    for (int c = p->first; c < p->end; c++) {
        const char *label = s->column_labels[c];
        int wide = 1, skip = line - (sheet->label_lines - stacked(label, &wide));
        if (skip < 0) {
            pad(&w->text, sheet->cell);
            continue;
        }
        while (skip--) label += cluster(label);
        const char *one = arena_copy(w->arena, label, cluster(label));
        text_add(&w->text, one);
        pad(&w->text, sheet->cell - picture_text_columns(one));
    }
    pad(&w->text, p->width - sheet->gutter - (p->end - p->first) * sheet->cell);
}

/* Add pieces side by side, line by line: caption, labels, rows. */
static void add_shelf(Writer *w, const PictureSection *s, const Sheet *sheet, const Piece *pieces, int n)
{
    for (int line = -1 - sheet->label_lines; line < s->rows; line++) {
        for (int i = 0; i < n; i++) {
            const Piece *p = &pieces[i];
            if (i) pad(&w->text, SPACE);
            if (line >= 0) add_row(w, s, sheet, p, line);
            else if (line >= -sheet->label_lines) add_labels(w, s, sheet, p, line + sheet->label_lines);
            else text_printf(&w->text, "%*s%-*s", sheet->gutter, "", p->width - sheet->gutter, p->caption);
        }
        end_line(&w->text);
    }
}

/* Add the maps of one layer, from `first` on; returns the first of the next layer. */
static int add_layer(Writer *w, const PictureSection *s, const Sheet *sheet, int first)
{
    Piece *shelf = arena_array(w->arena, (size_t)w->width, sizeof *shelf);
    int i = first, n = 0, used = 0;
    if (s->layered) text_printf(&w->text, "layer %d\n", s->maps[first].layer);
    for (; i < s->count && s->maps[i].layer == s->maps[first].layer; i++) {
        for (int c = 0; c < s->columns; c += sheet->chunk) {
            const Piece next = piece(w, s, sheet, &s->maps[i], c);
            if (n && used + SPACE + next.width > w->width) {
                add_shelf(w, s, sheet, shelf, n);
                n = used = 0;
            }
            used += next.width + (n ? SPACE : 0);
            shelf[n++] = next;
        }
    }
    add_shelf(w, s, sheet, shelf, n);
    return i;
}

static void add_scale(Writer *w)
{
    text_add(&w->text, "weight ");
    if (w->ink) {
        text_add(&w->text, "0 ");
        for (int i = 0; i <= 16; i++) add_cell(w, i / 16.0, 2);
        text_add(&w->text, "\033[0m 1");
    }
    for (int i = 1; i < SHADES && !w->ink; i++)
        text_printf(&w->text, "  %s %g", shades[i].ink, shades[i].least);
    if (!w->ink) text_add(&w->text, "  or more");
    text_add(&w->text, "\n");
}

Text picture_blocks(Arena *a, const Picture *p, int width, PictureInk ink)
{
    Writer w = { .arena = a, .text = text_new(a), .picture = p, .width = width, .ink = ink };
    add_fitted(&w, arena_format(a, "%s%s%s%s%s", p->model, p->input ? "  " : "", p->input ? p->input : "", p->answer ? " → " : "",
                                p->answer ? p->answer : ""));
    add_scale(&w);
    if (*p->signs) add_fitted(&w, p->signs);
    for (int i = 0; i < p->count; i++) {
        const PictureSection *s = &p->sections[i];
        const Sheet sheet = measure(&w, s);
        text_add(&w.text, "\n");
        add_fitted(&w, s->heading);
        add_fitted(&w, s->doc);
        for (int m = 0; m < s->count;) m = add_layer(&w, s, &sheet, m);
    }
    return w.text;
}
