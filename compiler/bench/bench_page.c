/* bench_page.c: write the parts of HTML pages, and the style of all pages. */
#include "bench_page.h"

/* Colours are variables, which a dark page redefines. Wide content scrolls in its own box, so that
 * the page never scrolls sideways. */
static const char style[] =
    ":root { color-scheme: light dark; --paper: #ffffff; --ink: #1e293b; --soft: #475569;"
    " --grid: #e2e8f0;"
    " --rim: #cbd5e1; --track: #eef2f6; --bar: #3b82f6 }\n"
    "* { box-sizing: border-box }\n"
    "body { font: 15px/1.5 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: var(--ink);"
    " background: var(--paper); max-width: 1040px; margin: 32px auto; padding: 0 24px }\n"
    "h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere } h2 { font-size: 19px;"
    " margin: 40px 0 8px }\n"
    "h3 { font-size: 14px; margin: 20px 0 6px; padding-top: 10px; border-top: 1px solid"
    " var(--grid) }\n"
    "p { margin: 4px 0 12px; color: var(--soft) } svg { display: block; max-width: 100%; height:"
    " auto }\n"
    ".bars { display: grid; grid-template-columns: 196px minmax(0, 1fr) 250px; gap: 0 14px;"
    " align-items: center;"
    " font-size: 13px; line-height: 22px }\n"
    ".who { text-align: right } .head { color: var(--soft); font-weight: bold }\n"
    ".meter { display: grid; grid-template-columns: minmax(0, 1fr) 76px; gap: 8px; align-items:"
    " center }\n"
    ".share { grid-template-columns: minmax(0, 1fr) 46px }\n"
    ".meter b { font-weight: normal; white-space: nowrap; font-variant-numeric: tabular-nums }\n"
    ".track { position: relative; height: 14px } .share .track { background: var(--track);"
    " border-radius: 2px }\n"
    ".track i, .track s, .track u { position: absolute; top: 0; bottom: 0 } .track i { left: 0;"
    " border-radius: 2px }\n"
    ".track s { top: 3px; bottom: 3px; border: solid var(--ink); border-width: 0 1.5px;"
    " background: linear-gradient(var(--ink), var(--ink)) center / 100% 1.5px no-repeat }\n"
    ".track u { top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--ink) }\n"
    ".key { list-style: none; margin: 0 0 12px; padding: 0; display: flex; flex-wrap: wrap; gap:"
    " 2px 20px;"
    " font-size: 13px }\n"
    ".key i { display: inline-block; width: 11px; height: 11px; margin-right: 7px;"
    " border-radius: 50%;"
    " border: 1px solid var(--ink) }\n"
    "details { border-top: 1px solid var(--grid); padding: 8px 0 16px } summary { cursor:"
    " pointer; margin-bottom: 10px }\n"
    ".narrow { display: none }\n"
    ".scroll { overflow-x: auto; margin-bottom: 8px }\n"
    "table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }\n"
    "th { text-align: left; color: var(--soft) }\n"
    "th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid var(--grid); white-space: nowrap"
    " }\n"
    "th.n, td.n { text-align: right } td.words { white-space: normal; min-width: 200px }\n"
    "th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper) }\n"
    "td.bar { width: 180px } td.bar div { height: 11px; border-radius: 2px; background:"
    " var(--bar) }\n"
    "tr.first td { border-top: 2px solid var(--rim) }\n"
    "@media (max-width: 720px) {\n"
    "body { margin: 20px auto; padding: 0 16px } h1 { font-size: 23px } .wide { display: none }"
    " .narrow { display: block }\n"
    ".bars { grid-template-columns: minmax(0, 5fr) minmax(0, 4fr); gap: 0 12px; line-height:"
    " 18px; padding: 3px 0 }\n"
    ".who { grid-column: 1 / 3; text-align: left } .meter { grid-template-columns: minmax(0,"
    " 1fr) 66px }\n"
    ".share { grid-template-columns: minmax(0, 1fr) 44px } .track { height: 12px } td.bar {"
    " width: 90px }\n"
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    ":root { --paper: #0f172a; --ink: #e2e8f0; --soft: #a3b1c6; --grid: #27364b; --rim: #475569;"
    " --track: #1e293b; --bar: #4f8ff7 }\n";

void bench_page_cell(Text *t, bool number, const char *s)
{
    text_add(t, number ? "<td class=\"n\">" : "<td>");
    bench_add_text(t, s);
    text_add(t, "</td>");
}

void bench_page_words(Text *t, const char *s)
{
    text_add(t, "<td class=\"words\">");
    bench_add_text(t, s);
    text_add(t, "</td>");
}

void bench_page_heads(Text *t, const char *const *heads, int n)
{
    text_add(t, "<div class=\"scroll\" tabindex=\"0\"><table>\n<tr>");
    for (int i = 0; i < n; i++) {
        const bool number = *heads[i] == '|';
        text_printf(t, "<th%s>", number ? " class=\"n\"" : "");
        bench_add_text(t, heads[i] + number);
        text_add(t, "</th>");
    }
    text_add(t, "</tr>\n");
}

void bench_page_begin(Text *t, const char *title, const char *head)
{
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    bench_add_text(t, title);
    text_printf(t, "</title>\n<style>\n%s", style);
    svg_add_night(t);
    text_add(t, "}\n</style>\n</head>\n<body>\n<h1>");
    bench_add_text(t, head);
    text_add(t, "</h1>\n");
}

void bench_page_end(Text *t) { text_add(t, "</body>\n</html>\n"); }

void bench_page_machine(Text *t, const Bench *b)
{
    const char *processor = machine_processor(b->arena);
    text_add(t, "<p>");
    bench_add_text(t, processor);
    text_printf(t, "%s limits were probed with %s vectors.</p>\n", *processor ? "; its" : "The processor's", b->limits.isa);
}
