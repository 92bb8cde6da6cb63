/* picture.h: draw attention weights as heat maps, as SVG or as block characters for a terminal.
 *
 * Weights are between 0 and 1, and all maps of all pictures use this scale. The same picture gives
 * the same bytes. Everything lives in the arena that is passed. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>

#include "text.h"

/* One head: values[rows][columns] of its section. Every row sums to 1, or to 0 if it sees no
 * key. */
typedef struct PictureMap { const char *name; int layer, head; const float *values; } PictureMap;

/* Maps with the same axes, ordered by layer, then by head. */
typedef struct PictureSection {
    const char *heading, *doc;      /* the attention; what rows and columns are */
    const char *const *row_labels, *const *column_labels;       /* [rows], [columns]; printable, never "" */
    int rows, columns;
    bool causal;                    /* row r sees columns 0..r: the others are left empty */
    bool layered;                   /* maps have layer numbers; false: one tensor of an xf.graph */
    PictureMap *maps;  int count;
} PictureSection;

typedef struct Picture {
    const char *model;
    const char *input, *answer;     /* NULL if there is none; texts are quoted already */
    const char *signs;              /* explains the symbols in labels; "" if there are none */
    PictureSection *sections;  int count;
} Picture;

/* The number of cells of all maps. */
double picture_cells(const Picture *p);

/* A complete SVG file. */
Text picture_svg(Arena *a, const Picture *p);
/* How a terminal shows weights: as shade characters, or in 256 colours, where 0 looks like the
 * background. */
typedef enum PictureInk { PICTURE_SHADES, PICTURE_ON_LIGHT, PICTURE_ON_DARK } PictureInk;
/* PICTURE_ON_DARK if COLORFGBG, such as "15;0", says so; else PICTURE_ON_LIGHT. */
PictureInk picture_ground(void);
/* Lines of at most `width` columns, except for the scale and rows with long labels. */
Text picture_blocks(Arena *a, const Picture *p, int width, PictureInk ink);

/* The colour of a weight, from white to dark blue: as "#rrggbb", or as the nearest of a terminal's
 * 256 colours. dark: on a dark background, so the scale is reversed. */
const char *picture_colour(Arena *a, double weight);
int  picture_terminal_colour(double weight, bool dark);

/* Columns of a text in a terminal: 2 for wide characters, 0 for combining marks. */
int  picture_text_columns(const char *text);

#endif
