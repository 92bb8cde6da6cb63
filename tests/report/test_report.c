/* test_report.c: The page and the chart of `bench`, from made-up numbers: no bar leaves its track,
 * no label covers another label or a point, and the page has what narrow and dark screens need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report_example.h"

enum { MOST = 4000 };

/* A text or a circle of an SVG, as a rectangle around (x, y) turned by `turn` radians. */
typedef struct Thing { double x, y, half_width, half_height, turn; char what[80]; } Thing;

static double number_of(const char *tag, const char *name, double missing)
{
    const char *end = strchr(tag, '>'), *at = strstr(tag, name);
    return at && at < end ? strtod(at + strlen(name), NULL) : missing;
}

static bool has(const char *tag, const char *part)
{
    const char *end = strchr(tag, '>'), *at = strstr(tag, part);
    return at && at < end;
}

static Thing text_of(const char *tag)
{
    const SvgFont font = { .size = number_of(tag, " font-size=\"", 12), .bold = has(tag, "bold") };
    Thing t = { .x = number_of(tag, " x=\"", 0), .y = number_of(tag, " y=\"", 0) };
    t.turn = number_of(tag, "rotate(", 0) * acos(-1) / 180;
    const char *from = strchr(tag, '>') + 1, *to = strstr(from, "</text>");
    snprintf(t.what, sizeof t.what, "%.*s", (int)(to - from), from);
    t.half_width = svg_width(t.what, font) / 2;
    t.half_height = font.size * 0.4;
    double along = has(tag, "\"middle\"") ? 0 : has(tag, "\"end\"") ? -t.half_width : t.half_width;
    t.x += along * cos(t.turn) + t.half_height * sin(t.turn);
    t.y += along * sin(t.turn) - t.half_height * cos(t.turn);
    return t;
}

static double reach(const Thing *t, double x, double y)
{
    return t->half_width * fabs(cos(t->turn) * x + sin(t->turn) * y)
         + t->half_height * fabs(cos(t->turn) * y - sin(t->turn) * x);
}

static bool apart(const Thing *a, const Thing *b)
{
    for (int i = 0; i < 2; i++) {
        const double turn = a->turn + i * acos(0), x = cos(turn), y = sin(turn);
        const double between = fabs((b->x - a->x) * x + (b->y - a->y) * y);
        if (between > reach(a, x, y) + reach(b, x, y)) return true;
    }
    return false;
}

/* List the texts of a picture, then its circles. *texts receives the number of texts, *all that of
 * both. Returns the end of the picture. */
static const char *read_picture(const char *svg, Thing *things, int *texts, int *all)
{
    const char *end = strstr(svg, "</svg>");
    int n = 0;
    assert_non_null(end);
    for (const char *at = svg; (at = strstr(at, "<text")) && at < end; at++)
        things[n++] = text_of(at);
    *texts = n;
    for (const char *at = svg; (at = strstr(at, "<circle")) && at < end; at++)
        things[n++] = (Thing){ number_of(at, " cx=\"", 0), number_of(at, " cy=\"", 0), 5, 5, 0,
                               "a point" };
    *all = n;
    assert_true(n < MOST);
    return end;
}

/* Check every picture in a text; returns the number of pictures. */
static int check_labels(const char *html)
{
    static Thing things[MOST];
    int pictures = 0, texts, all;
    for (const char *svg = html; (svg = strstr(svg, "<svg")); pictures++) {
        svg = read_picture(svg, things, &texts, &all);
        assert_true(texts > 10);
        for (int i = 0; i < texts; i++)
            for (int k = i + 1; k < all; k++)
                if (!apart(&things[i], &things[k]) && !apart(&things[k], &things[i]))
                    fail_msg("picture %d: \"%s\" overlaps \"%s\"", pictures, things[i].what,
                             things[k].what);
    }
    return pictures;
}

static void labels_have_room(void **state)
{
    (void)state;
    for (int sentences = 0; sentences < 2; sentences++) {
        ReportExample x = report_example(sentences);
        assert_int_equal(check_labels(x.page.data), 4);     /* two thread counts, two widths */
        assert_int_equal(check_labels(x.chart.data), 1);
        report_example_free(&x);
    }
}

/* Check that each value of a style, such as "width:", is from 0 to 100; returns how many there
 * are. */
static int check_percents(const char *html, const char *tag, const char *name)
{
    int n = 0;
    for (const char *at = html; (at = strstr(at, tag)); at++, n++) {
        const double x = number_of(at, name, -1);
        if (!(x >= 0 && x <= 100)) fail_msg("%s%g%%", name, x);
    }
    return n;
}

static void no_bar_leaves_its_track(void **state)
{
    (void)state;
    ReportExample x = report_example(false);
    assert_int_equal(check_percents(x.page.data, "<i style=\"width:", "width:"), 2 * 3 * 2 * 5);
    assert_int_equal(check_percents(x.page.data, "<u ", "left:"), 3 * 2 * 5);
    for (const char *at = x.page.data; (at = strstr(at, "<s ")); at++)
        assert_true(number_of(at, "left:", 100) + number_of(at, "width:", 100) <= 100.01);
    assert_non_null(strstr(x.page.data, "<b>129 %</b>"));
    assert_non_null(strstr(x.page.data, "The scale of the share ends at 150 %; the mark is at 100 %."));
    report_example_free(&x);
}

/* In the chart, each bar is on its track and no wider. */
static void no_bar_of_the_chart_leaves_its_track(void **state)
{
    (void)state;
    ReportExample x = report_example(false);
    int bars = 0;
    double left = 0, width = 0;
    for (const char *at = strstr(x.chart.data, "x=\"774\""); at; at = strstr(at + 1,
                                                                             "x=\"774\" y=\"")) {
        const double w = number_of(at, "width=\"", 0);
        if (number_of(at, "height=\"", 0) <= 0) continue;
        if (bars++ % 2 == 0) left = number_of(at, " y=\"", 0), width = w;
        else if (left != number_of(at, " y=\"", 0)
                 || w > width) fail_msg("a bar of %g on a track of %g", w, width);
    }
    assert_int_equal(bars, 2 * 3 * 2 * 5);
    report_example_free(&x);
}

static void the_page_suits_every_screen(void **state)
{
    static const char *const parts[] = {
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
            "color-scheme: light dark",
        "@media (prefers-color-scheme: dark)", "@media (max-width: 720px)",
            ".scroll { overflow-x: auto",
        "[fill=\"#1e293b\"] { fill: #e2e8f0 }", "cc &quot;&amp;&quot;", "gcc &lt;13&gt;",
    };
    (void)state;
    ReportExample x = report_example(false);
    const char *const page = x.page.data;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(page, parts[i])) fail_msg("the page has no %s", parts[i]);
    int tables = 0;
    for (const char *at = page; (at = strstr(at, "<table>")); at++, tables++)
        assert_int_equal(strncmp(at - strlen("tabindex=\"0\">"), "tabindex=\"0\">", 13), 0);
    assert_int_equal(tables, 3);
    assert_null(strstr(page, "<script"));
    report_example_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_have_room),
        cmocka_unit_test(no_bar_leaves_its_track),
        cmocka_unit_test(no_bar_of_the_chart_leaves_its_track),
        cmocka_unit_test(the_page_suits_every_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
