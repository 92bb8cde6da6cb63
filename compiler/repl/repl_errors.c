/* repl_errors.c: raise failures as Lua errors, and set the exit code of a script. */
#include "repl.h"

#include <stdlib.h>
#include <string.h>

#include "rt_logits.h"

Repl *repl_of(lua_State *L) { return (Repl *)(void *)spec_reader(L); }

char *repl_diag_text(Diag *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) no_memory("a message");
    diag_print(d, f, diag_colours(2));
    if (fclose(f) != 0) no_memory("a message");
    while (size && text[size - 1] == '\n') text[--size] = '\0';
    return text;
}

void repl_raise(lua_State *L, Diag *d)
{
    if (!diag_errors(d)) return;
    Repl *r = repl_of(L);
    char *text = repl_diag_text(d);
    r->code = diag_exit(d);
    lua_pushstring(L, text);
    free(text);
    /* The Lua error has the text now, and may be caught. */
    if (d == r->reader.diag) diag_forget(r->reader.diag);
    lua_error(L);
}

void repl_refuse(Repl *r, Exit code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("error: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    r->exit_code = code;
}

/* Raise the errors of the session. It is a bug if there are none. */
int repl_model_fail(lua_State *L, const ReplModel *m)
{
    repl_raise(L, m->session->diag);
    return luaL_error(L, "the model failed without a message");
}

void repl_check_status(lua_State *L, rt_status status)
{
    if (status == RT_INTERRUPTED) luaL_error(L, "interrupted");
    if (status != RT_OK) luaL_error(L, "%s", rt_status_text(status));
}

void repl_check_nul(lua_State *L, int index)
{
    size_t bytes;
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &bytes) : NULL;
    if (!text || strlen(text) == bytes) return;
    luaL_error(L, "a NUL at byte %d of the string", (int)strlen(text) + 1);
}
