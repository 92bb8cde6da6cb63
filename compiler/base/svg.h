/* svg.h: pictures as SVG text: shapes, text, arrows, tooltips.
 *
 * Lengths are in pixels, and y grows downward. The same calls give the same bytes. Texts may
 * contain anything: they are escaped, and what XML does not allow becomes U+FFFD. Everything lives
 * in the arena of svg_new. */
#ifndef SVG_H
#define SVG_H

#include <stdbool.h>

#include "file.h"
#include "text.h"

typedef struct Svg { Text text; int depth; } Svg;
extern const FileKind svg_kind;

/* How a shape looks; members that are zero are omitted. Colours as in SVG: "#334155", "none". */
typedef struct SvgStyle {
    const char *fill, *stroke;
    double width;                   /* of the stroke; 0: 1 */
    double radius;                  /* of a rectangle's corners */
    double opacity;                 /* 0: opaque */
    const char *dash;               /* "4 3" */
    bool arrow;                     /* an arrowhead at the end of a line or path, in SVG_LINE */
} SvgStyle;

typedef enum SvgAnchor { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT } SvgAnchor;
typedef struct SvgFont {
    double size;                    /* 0: 12 */
    SvgAnchor anchor;               /* which part of the text is at x */
    const char *fill;               /* NULL: SVG_INK */
    bool bold, italic, mono;
    bool halo;                      /* an outline in SVG_PAPER hides what is behind the text */
    double turn;                    /* degrees clockwise about (x, y) */
} SvgFont;

/* These colours are light enough to print and dark enough to project. SVG_INK is readable on the
 * fills of svg_colours. */
#define SVG_INK    "#1e293b"
#define SVG_FAINT  "#64748b"
#define SVG_LINE   "#475569"
#define SVG_GRID   "#e2e8f0"
#define SVG_PAPER  "#ffffff"
#define SVG_PANEL  "#f8fafc"
#define SVG_RIM    "#cbd5e1"

typedef struct SvgColour { const char *fill, *edge; } SvgColour;
enum { SVG_BLUE, SVG_ORANGE, SVG_GREEN, SVG_ROSE, SVG_VIOLET, SVG_TEAL, SVG_YELLOW, SVG_GREY, SVG_COLOURS };
extern const SvgColour svg_colours[SVG_COLOURS];

/* Begin a white page, dark for readers who prefer dark colours. `title` names it for screen readers
 * and browsers. */
Svg  svg_new(Arena *a, double width, double height, const char *title);
/* Begin a picture inside an HTML page: no background, no arrowheads. The style sheet of the page
 * must contain the rules of svg_add_night. */
Svg  svg_inline(Arena *a, double width, double height, const char *title);
/* CSS rules that replace the colours above, except edges, with those for dark pages; to be put into
 * a media query. */
void svg_add_night(Text *t);
/* Close the page or picture; s->text is then complete. Open groups are a bug: die(). */
void svg_finish(Svg *s);

/* Begin a group, until svg_group_end. `tip` is its tooltip, or NULL. */
void svg_group(Svg *s, const char *tip);
void svg_group_end(Svg *s);
/* Begin a group moved by (x, y). */
void svg_group_at(Svg *s, double x, double y, const char *tip);
/* Begin a group, until svg_group_end, whose colours, a scale from white, are not replaced. On a
 * dark page they are inverted as a whole, to a scale from black. */
void svg_heat(Svg *s);

void svg_rect(Svg *s, double x, double y, double w, double h, SvgStyle style, const char *tip);
void svg_circle(Svg *s, double x, double y, double r, SvgStyle style, const char *tip);
void svg_line(Svg *s, double x1, double y1, double x2, double y2, SvgStyle style);
/* `d` as in SVG: "M 0 0 L 10 10". fill NULL: none. */
void svg_path(Svg *s, const char *d, SvgStyle style, const char *tip);
/* y is the baseline. */
void svg_text(Svg *s, double x, double y, SvgFont font, const char *text);
void svg_printf(Svg *s, double x, double y, SvgFont font, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* An estimate of the width of a text, which errs on the large side. */
double svg_width(const char *text, SvgFont font);
/* `text`, or as much of its beginning as fits into `room`, followed by "…"; "" if fewer than two
 * characters fit. */
const char *svg_fit(Arena *a, const char *text, SvgFont font, double room);

#endif
