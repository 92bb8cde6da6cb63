/* repl_prelude.c: repl_prelude.lua, embedded by the assembler, and the C functions that it
 * needs. */
#include "repl.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "svg.h"

#ifdef __APPLE__
#define SECTION ".const"
#define SYMBOL "_repl_prelude_text"
#else
#define SECTION ".section .rodata"
#define SYMBOL "repl_prelude_text"
#endif
__asm__(SECTION "\n.globl " SYMBOL "\n" SYMBOL ":\n.incbin \"compiler/repl/repl_prelude.lua\"\n.byte 0\n.text\n");
extern const char repl_prelude_text[];

/* xf.bars(title, unit, labels, values, file): draw one bar for each label. A failure to write the
 * file is reported but not raised, so that the measurements are not lost. */
static int bars(lua_State *L)
{
    enum { MARGIN = 24, NAMES = 260, ROOM = 420, NUMBERS = 110, HEAD = 56, STEP = 24, BAR = 16, MOST = 100000 };
    const char *title = luaL_checkstring(L, 1), *unit = luaL_checkstring(L, 2), *path = luaL_checkstring(L, 5);
    luaL_checktype(L, 3, LUA_TTABLE);
    Arena *a = repl_scratch(L);
    Diag *d = diag_new(a);
    int64_t n;
    double most = 0;
    const float *values = repl_numbers(L, 4, a, &n);
    luaL_argcheck(L, n >= 1 && n <= MOST && luaL_len(L, 3) == n, 4, "expected as many numbers as labels, from 1 to 100000");
    for (int i = 0; i < n; i++) luaL_argcheck(L, isfinite(values[i]), 4, "a number is not finite");
    for (int i = 0; i < n; i++)
        if ((double)values[i] > most) most = (double)values[i];
    Svg s = svg_new(a, 2 * MARGIN + NAMES + ROOM + NUMBERS, HEAD + (double)n * STEP + MARGIN, title);
    svg_printf(&s, MARGIN, 34, (SvgFont){ .size = 18, .bold = true }, "%s, %s", title, unit);
    for (int i = 0; i < n; i++) {
        const double y = HEAD + i * STEP, width = most > 0 ? (double)values[i] / most * ROOM : 0;
        lua_geti(L, 3, i + 1);
        svg_text(&s, MARGIN + NAMES - 8, y + 12.5, (SvgFont){ .anchor = SVG_RIGHT },
                 svg_fit(a, luaL_tolstring(L, -1, NULL), (SvgFont){ .size = 12 }, NAMES));
        lua_pop(L, 2);
        if (!(values[i] > 0)) {
            svg_text(&s, MARGIN + NAMES, y + 12.5, (SvgFont){ .fill = SVG_FAINT, .italic = true }, "no value above 0");
            continue;
        }
        svg_rect(&s, MARGIN + NAMES, y, width, BAR, (SvgStyle){ .fill = svg_colours[SVG_BLUE].edge, .radius = 2 }, NULL);
        svg_printf(&s, MARGIN + NAMES + width + 7, y + 12.5, (SvgFont){ .size = 12 }, "%.4g", (double)values[i]);
    }
    svg_finish(&s);
    if (file_replace(a, d, path, svg_kind, s.text.data, s.text.size)) return 0;
    diag_print(d, stderr, diag_colours(2));
    repl_of(L)->exit_code = diag_exit(d);
    return 0;
}

/* ---- a sweep ----------------------------------------------------------------------------------------------------- */

/* shown(table, line): print a line of a sweep at once, if standard error is a terminal. At the
 * prompt the table is then not printed again as the chunk's value. */
static int shown(lua_State *L)
{
    Repl *r = repl_of(L);
    if (!isatty(2)) return 0;
    fflush(stdout);
    fprintf(stderr, "%s\n", luaL_checkstring(L, 2));
    if (r->terminal) repl_set_shown(L, 1);
    return 0;
}

/* Describe the argument: "5", "a tensor". */
static int described(lua_State *L) { return lua_pushstring(L, repl_described(L, 1)), 1; }

/* True if Ctrl-C was pressed and not handled yet. */
static int stopping(lua_State *L) { return lua_pushboolean(L, repl_stopping()), 1; }

/* A message handler for xpcall: after Ctrl-C it handles the request and returns nothing, so that
 * the caller continues; otherwise it returns the error. */
static int heard(lua_State *L)
{
    if (!repl_stopping()) return 1;
    repl_heard(L);
    return 0;
}

void repl_open_prelude(lua_State *L)
{
    if (luaL_loadbufferx(L, repl_prelude_text, strlen(repl_prelude_text), "=" SPEC_OWN_CHUNK, "t") != LUA_OK) die("%s", lua_tostring(L, -1));
    lua_getglobal(L, "xf");
    static const ReplFunction functions[] = {
        { "bars", bars, "title text, unit text, labels table, numbers numbers, file text" },
        { NULL, NULL, NULL }
    };
    repl_set_functions(L, "xf.", functions);
    repl_push_methods(L);
    lua_pushcfunction(L, repl_check_sweep);
    static const luaL_Reg sweep[] = { { "shown", shown }, { "stopping", stopping }, { "heard", heard },
                                      { "described", described }, { NULL, NULL } };
    luaL_newlib(L, sweep);
    if (lua_pcall(L, 4, 0, 0) != LUA_OK) die("%s", lua_tostring(L, -1));
}
