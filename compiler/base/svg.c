/* svg.c: write shapes and escaped text as SVG. Numbers have at most two decimals and no
 * exponent. */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const FileKind svg_kind = { "<svg", "an SVG picture", ".svg" };

const SvgColour svg_colours[SVG_COLOURS] = {
    [SVG_BLUE]   = { "#dbeafe", "#3b82f6" }, [SVG_ORANGE] = { "#ffedd5", "#ea8a2e" }, [SVG_GREEN]  = { "#dcfce7", "#22a35a" },
    [SVG_ROSE]   = { "#ffe4e6", "#e0526a" }, [SVG_VIOLET] = { "#ede9fe", "#8b5cf6" }, [SVG_TEAL]   = { "#ccfbf1", "#14a89a" },
    [SVG_YELLOW] = { "#fef9c3", "#c9a20b" }, [SVG_GREY]   = { "#f1f5f9", "#94a3b8" },
};

/* Dark replacements for light colours: every fill above, and the colours of svg.h. */
typedef struct Night { const char *light, *dark; } Night;
static const Night nights[] = {
    { SVG_PAPER, "#0f172a" }, { SVG_INK, "#e2e8f0" }, { SVG_FAINT, "#94a3b8" },
    { SVG_LINE, "#94a3b8" }, { SVG_GRID, "#334155" }, { SVG_PANEL, "#1e293b" },
    { SVG_RIM, "#475569" }, { "#dbeafe", "#1e3a5f" }, { "#ffedd5", "#4d3113" },
    { "#dcfce7", "#14432a" }, { "#ffe4e6", "#501f2c" }, { "#ede9fe", "#352b62" },
    { "#ccfbf1", "#0f4340" }, { "#fef9c3", "#453b0d" }, { "#f1f5f9", "#27364b" },
};

void svg_add_night(Text *t)
{
    for (size_t i = 0; i < sizeof nights / sizeof *nights; i++)
        text_printf(t, "[fill=\"%s\"] { fill: %s } [stroke=\"%s\"] { stroke: %s }\n",
                    nights[i].light, nights[i].dark, nights[i].light, nights[i].dark);
}

/* On a dark page, the colours of a heat map are not replaced: it is inverted as a whole, light to
 * dark, with the same hues. The filter applies the matrix of hue-rotate(180deg) to 1 - c. */
static void add_style_sheet(Text *t)
{
    text_add(t, "  <style>\nsvg:root { color-scheme: light dark }\n"
                "@media (prefers-color-scheme: dark) {\n");
    svg_add_night(t);
    text_printf(t, ".heat { filter: url(#heat-night) }\n.heat [fill=\"%s\"] { fill: %s }\n"
                   ".heat [fill=\"%s\"] { fill: %s }\n}\n  </style>\n", SVG_PAPER, SVG_PAPER,
                SVG_INK, SVG_INK);
}

static const char heat_night[] =
    "    <filter id=\"heat-night\" color-interpolation-filters=\"sRGB\" x=\"0\" y=\"0\""
    " width=\"1\" height=\"1\">\n"
    "      <feColorMatrix values=\"0.574 -1.43 -0.144 0 1  -0.426 -0.43 -0.144 0 1"
    "  -0.426 -1.43 0.856 0 1  0 0 0 1 0\"/>\n"
    "    </filter>\n";

/* ---- text ------------------------------------------------------------------------------------------------- */

/* True if XML 1.0 allows the character. */
static bool xml_character(int32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) || c >= 0x10000;
}

static void add_escaped(Text *t, const char *s)
{
    static const char *const names[128] = { ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;" };
    for (size_t n = strlen(s); n > 0;) {
        int32_t c;
        int size = utf8_next(s, n, &c);
        if (!size || !xml_character(c)) text_add(t, "\xef\xbf\xbd");
        else if (c < 128 && names[c]) text_add(t, names[c]);
        else text_add_bytes(t, s, (size_t)size);
        if (!size) size = 1;
        s += size;
        n -= (size_t)size;
    }
}

/* ` name="12.5"`, without trailing zeros. */
static void add_number(Text *t, const char *name, double x)
{
    char digits[64];
    if (!isfinite(x)) die("%s is not finite", name);
    snprintf(digits, sizeof digits, "%.2f", x);
    char *end = digits + strlen(digits);
    while (end[-1] == '0') *--end = 0;
    if (end[-1] == '.') *--end = 0;
    text_printf(t, " %s=\"%s\"", name, strcmp(digits, "-0") == 0 ? "0" : digits);
}

static void add_word(Text *t, const char *name, const char *value)
{
    if (!value) return;
    text_printf(t, " %s=\"", name);
    add_escaped(t, value);
    text_add(t, "\"");
}

/* ---- elements --------------------------------------------------------------------------------------------- */

static void open_tag(Svg *s, const char *tag) { text_printf(&s->text, "%*s<%s", 2 * s->depth + 2, "", tag); }

static void add_style(Text *t, SvgStyle style, const char *fill)
{
    add_word(t, "fill", style.fill ? style.fill : fill);
    add_word(t, "stroke", style.stroke);
    if (style.stroke && style.width > 0) add_number(t, "stroke-width", style.width);
    if (style.opacity > 0) add_number(t, "opacity", style.opacity);
    add_word(t, "stroke-dasharray", style.dash);
    if (style.arrow) text_add(t, " marker-end=\"url(#arrow)\"");
}

static void close_tag(Svg *s, const char *tag, const char *tip)
{
    if (!tip) {
        text_add(&s->text, "/>\n");
        return;
    }
    text_add(&s->text, "><title>");
    add_escaped(&s->text, tip);
    text_printf(&s->text, "</title></%s>\n", tag);
}

Svg svg_inline(Arena *a, double width, double height, const char *title)
{
    Svg s = { .text = text_new(a), .depth = 0 };
    Text *t = &s.text;
    text_add(t, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    add_number(t, "width", width);
    add_number(t, "height", height);
    text_printf(t, " viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\">\n  <title>",
                ceil(width), ceil(height));
    add_escaped(t, title);
    text_add(t, "</title>\n");
    return s;
}

Svg svg_new(Arena *a, double width, double height, const char *title)
{
    Svg s = svg_inline(a, width, height, title);
    Text *t = &s.text;
    text_add(t, "  <defs>\n"
                "    <marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerUnits=\"userSpaceOnUse\""
                " markerWidth=\"9\" markerHeight=\"9\" orient=\"auto\">\n"
                "      <path d=\"M 0 1 L 10 5 L 0 9 z\" fill=\"" SVG_LINE "\"/>\n"
                "    </marker>\n");
    text_add(t, heat_night);
    text_add(t, "  </defs>\n");
    add_style_sheet(t);
    text_add(t, "  <rect width=\"100%\" height=\"100%\" fill=\"" SVG_PAPER "\"/>\n");
    return s;
}

void svg_finish(Svg *s)
{
    if (s->depth) die("%d groups are still open", s->depth);
    text_add(&s->text, "</svg>\n");
}

static void begin_group(Svg *s, const char *tip)
{
    text_add(&s->text, ">");
    if (tip) {
        text_add(&s->text, "<title>");
        add_escaped(&s->text, tip);
        text_add(&s->text, "</title>");
    }
    text_add(&s->text, "\n");
    s->depth++;
}

void svg_group(Svg *s, const char *tip)
{
    open_tag(s, "g");
    begin_group(s, tip);
}

void svg_group_at(Svg *s, double x, double y, const char *tip)
{
    open_tag(s, "g");
    text_printf(&s->text, " transform=\"translate(%.2f %.2f)\"", x, y);
    begin_group(s, tip);
}

void svg_heat(Svg *s)
{
    open_tag(s, "g");
    text_add(&s->text, " class=\"heat\"");
    begin_group(s, NULL);
}

void svg_group_end(Svg *s)
{
    if (s->depth-- == 0) die("no group is open");
    text_printf(&s->text, "%*s</g>\n", 2 * s->depth + 2, "");
}

void svg_rect(Svg *s, double x, double y, double w, double h, SvgStyle style, const char *tip)
{
    Text *t = &s->text;
    open_tag(s, "rect");
    add_number(t, "x", x);
    add_number(t, "y", y);
    add_number(t, "width", w);
    add_number(t, "height", h);
    if (style.radius > 0) add_number(t, "rx", style.radius);
    add_style(t, style, NULL);
    close_tag(s, "rect", tip);
}

void svg_circle(Svg *s, double x, double y, double r, SvgStyle style, const char *tip)
{
    Text *t = &s->text;
    open_tag(s, "circle");
    add_number(t, "cx", x);
    add_number(t, "cy", y);
    add_number(t, "r", r);
    add_style(t, style, NULL);
    close_tag(s, "circle", tip);
}

void svg_line(Svg *s, double x1, double y1, double x2, double y2, SvgStyle style)
{
    Text *t = &s->text;
    if (!style.stroke) style.stroke = SVG_LINE;
    open_tag(s, "line");
    add_number(t, "x1", x1);
    add_number(t, "y1", y1);
    add_number(t, "x2", x2);
    add_number(t, "y2", y2);
    add_style(t, style, NULL);
    close_tag(s, "line", NULL);
}

void svg_path(Svg *s, const char *d, SvgStyle style, const char *tip)
{
    if (!style.stroke && !style.fill) style.stroke = SVG_LINE;
    open_tag(s, "path");
    add_word(&s->text, "d", d);
    add_style(&s->text, style, "none");
    close_tag(s, "path", tip);
}

void svg_text(Svg *s, double x, double y, SvgFont font, const char *text)
{
    static const char *const anchors[] = { [SVG_LEFT] = NULL, [SVG_MIDDLE] = "middle", [SVG_RIGHT] = "end" };
    Text *t = &s->text;
    open_tag(s, "text");
    add_number(t, "x", x);
    add_number(t, "y", y);
    if (font.size > 0) add_number(t, "font-size", font.size);
    add_word(t, "text-anchor", anchors[font.anchor]);
    add_word(t, "fill", font.fill ? font.fill : SVG_INK);
    add_word(t, "font-weight", font.bold ? "bold" : NULL);
    add_word(t, "font-style", font.italic ? "italic" : NULL);
    add_word(t, "font-family", font.mono ? "'DejaVu Sans Mono', Menlo, Consolas, monospace" : NULL);
    if (font.halo) text_add(t, " stroke=\"" SVG_PAPER "\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
    if (font.turn != 0) text_printf(t, " transform=\"rotate(%.2f %.2f %.2f)\"", font.turn, x, y);
    text_add(t, ">");
    add_escaped(t, text);
    text_add(t, "</text>\n");
}

void svg_printf(Svg *s, double x, double y, SvgFont font, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    svg_text(s, x, y, font, arena_vformat(s->text.arena, format, args));
    va_end(args);
}

/* ---- measures --------------------------------------------------------------------------------------------- */

/* The width of a character in units of the font size: that of DejaVu Sans rounded up, which is
 * wider than Helvetica and Arial. */
static double character_width(int32_t c, bool mono)
{
    if (c >= 0x2e80) return 1.0;
    if (mono) return 0.61;
    if (c >= 0x80) return 0.7;
    if (strchr("ijlI'|.,:; ", c)) return 0.34;
    if (strchr("frt()[]/-\"", c)) return 0.41;
    if (strchr("mMW@%", c)) return 0.98;
    return c >= 'A' && c <= 'Z' ? 0.72 : 0.63;
}

static double font_scale(SvgFont font) { return (font.size > 0 ? font.size : 12) * (font.bold && !font.mono ? 1.1 : 1); }

/* The width of the next character; *size receives its bytes. */
static double next_width(const char *s, SvgFont font, int *size)
{
    int32_t c = 'x';
    *size = utf8_next(s, strlen(s), &c);
    if (!*size) *size = 1;
    return character_width(c, font.mono) * font_scale(font);
}

double svg_width(const char *text, SvgFont font)
{
    double w = 0;
    for (int size; *text; text += size) w += next_width(text, font, &size);
    return w;
}

const char *svg_fit(Arena *a, const char *text, SvgFont font, double room)
{
    if (svg_width(text, font) <= room) return text;
    double w = character_width(0x2026, font.mono) * font_scale(font);
    const char *end = text;
    int count = 0;
    for (int size; *end; end += size, count++) {
        w += next_width(end, font, &size);
        if (w > room) break;
    }
    return count < 2 ? "" : arena_format(a, "%.*s…", (int)(end - text), text);
}
