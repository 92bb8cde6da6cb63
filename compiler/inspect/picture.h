/* picture.h: attention weights as heat maps, drawn as SVG or as blocks of characters for a terminal.
 *
 * A weight lies between 0 and 1, and every map of every picture has that one scale. The same picture gives the same
 * bytes. Everything lives in the arena that is passed. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>

#include "text.h"

/* One head: values[rows][columns] of its section; every row sums to 1, or to 0 where it may look at nothing. */
typedef struct PictureMap { const char *name; int layer, head; const float *values; } PictureMap;

/* Maps with the same axes, ordered by layer, then by head. */
typedef struct PictureSection {
    const char *heading, *doc;      /* what it is; what rows and columns are */
    const char *const *row_labels, *const *column_labels;       /* [rows], [columns]; printable, never "" */
    int rows, columns;
    bool causal;                    /* row r may look at columns 0..r: the others are left empty */
    bool layered;                   /* layers have numbers; false: one tensor of an xf.graph */
    PictureMap *maps;  int count;
} PictureSection;

typedef struct Picture {
    const char *model;
    const char *input, *answer;     /* NULL where there is none; quoted already where it is a text */
    const char *signs;              /* what the signs among the labels stand for, "" where there are none */
    PictureSection *sections;  int count;
} Picture;

/* Cells of all maps. */
double picture_cells(const Picture *p);

/* A whole SVG file. */
Text picture_svg(Arena *a, const Picture *p);
/* How a terminal shows weights: by shades of characters, or by cells in 256 colours, where 0 is as
 * the ground. */
typedef enum PictureInk { PICTURE_SHADES, PICTURE_ON_LIGHT, PICTURE_ON_DARK } PictureInk;
/* Of those in colour: dark where COLORFGBG says so, as "15;0"; else light. */
PictureInk picture_ground(void);
/* Lines of at most `width` columns. */
Text picture_blocks(Arena *a, const Picture *p, int width, PictureInk ink);

/* The ramp from white to deep blue: "#rrggbb", and what comes near it among the 256 colours of a
 * terminal; on a dark ground the other way round. */
const char *picture_colour(Arena *a, double weight);
int  picture_terminal_colour(double weight, bool dark);

/* Columns that a text takes in a terminal: 2 for wide characters, 0 for marks that combine. */
int  picture_text_columns(const char *text);

#endif
