/* picture.c: the colour ramp, the background of the terminal, the number of cells of a Picture, and
 * the width of text in columns.
 *
 * The ramp is an arc in the OKLab space from white (L 1) to a deep blue (L 0.27, a -0.002, b
 * -0.125), bent towards (0.68, -0.055, -0.17) so that its middle is clearly blue, and cut into
 * sixteen steps of equal length: equal steps of weight look equally large. Lightness falls all the
 * way, so the ramp can also be read in greyscale and without colour vision. */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Stop { unsigned char rgb[3], terminal; } Stop;
static const Stop ramp[] = {
    { { 0xff, 0xff, 0xff }, 231 }, { { 0xe7, 0xf3, 0xff }, 195 }, { { 0xd0, 0xe6, 0xff }, 195 }, { { 0xba, 0xd8, 0xff }, 153 },
    { { 0xa4, 0xca, 0xf8 }, 153 }, { { 0x90, 0xbc, 0xf2 }, 111 }, { { 0x7d, 0xad, 0xea }, 111 }, { { 0x6b, 0x9e, 0xe1 }, 75 },
    { { 0x5b, 0x8f, 0xd7 }, 69 },  { { 0x4c, 0x80, 0xcb }, 68 },  { { 0x3e, 0x71, 0xbe }, 32 },  { { 0x32, 0x62, 0xb0 }, 26 },
    { { 0x28, 0x53, 0xa2 }, 25 },  { { 0x20, 0x45, 0x92 }, 25 },  { { 0x19, 0x37, 0x83 }, 19 },  { { 0x14, 0x29, 0x72 }, 18 },
    { { 0x10, 0x1b, 0x62 }, 17 },
};
enum { STEPS = sizeof ramp / sizeof *ramp - 1 };

/* 0 for NaN. */
static double on_ramp(double weight) { return weight > 0 ? fmin(weight, 1) * STEPS : 0; }

const char *picture_colour(Arena *a, double weight)
{
    const double at = on_ramp(weight);
    const int i = at < STEPS ? (int)at : STEPS - 1;
    int mixed[3];
    for (int c = 0; c < 3; c++) mixed[c] = (int)lround(ramp[i].rgb[c] + (at - i) * (ramp[i + 1].rgb[c] - ramp[i].rgb[c]));
    return arena_format(a, "#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
}

int picture_terminal_colour(double weight, bool dark)
{
    const int step = (int)lround(on_ramp(weight));
    return ramp[dark ? STEPS - step : step].terminal;
}

/* The last number of COLORFGBG is the background, one of the 16 colours: 0 to 6 and 8 are dark. */
PictureInk picture_ground(void)
{
    const char *said = getenv("COLORFGBG"), *last = said ? strrchr(said, ';') : NULL;
    char *end = NULL;
    const long ground = last ? strtol(last + 1, &end, 10) : -1;
    if (!last || end == last + 1 || *end || ground < 0) return PICTURE_ON_LIGHT;
    return ground < 7 || ground == 8 ? PICTURE_ON_DARK : PICTURE_ON_LIGHT;
}

double picture_cells(const Picture *p)
{
    double cells = 0;
    for (int i = 0; i < p->count; i++) cells += (double)p->sections[i].rows * p->sections[i].columns * p->sections[i].count;
    return cells;
}

/* ---- columns of text ---------------------------------------------------------------------------------------- */

typedef struct Range { int32_t first, last; } Range;

static bool in_ranges(int32_t c, const Range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last) return true;
    return false;
}

/* Only the blocks that matter for text; a terminal's own table is longer. */
static int columns_of(int32_t c)
{
    static const Range none[] = { { 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x670, 0x670 },
                                  { 0x6d6, 0x6dc }, { 0x900, 0x902 }, { 0x93c, 0x93c }, { 0x94d, 0x94d }, { 0xe31, 0xe31 }, { 0xe34, 0xe3a },
                                  { 0xe47, 0xe4e }, { 0x200b, 0x200f }, { 0x20d0, 0x20f0 }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f } };
    static const Range wide[] = { { 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },
                                  { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd } };
    if (in_ranges(c, none, sizeof none / sizeof *none)) return 0;
    return in_ranges(c, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

int picture_text_columns(const char *text)
{
    int columns = 0;
    for (size_t n = strlen(text); n;) {
        int32_t c = 0;
        int size = utf8_next(text, n, &c);
        columns += size ? columns_of(c) : 1;
        if (!size) size = 1;
        text += size;
        n -= (size_t)size;
    }
    return columns;
}
