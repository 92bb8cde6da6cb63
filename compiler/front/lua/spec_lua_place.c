/* spec_lua_place.c: the current place in a running spec, for messages. */
#include "spec_lua.h"

#include <string.h>

SpecReader *spec_reader(lua_State *L)
{
    return *(SpecReader **)lua_getextraspace(L);
}

/* The current line of the innermost running Lua function of the spec; 0 if there is none. */
static int line_of_call(lua_State *L)
{
    lua_Debug info;
    for (int level = 0; lua_getstack(L, level, &info); level++) {
        lua_getinfo(L, "Sl", &info);
        if (info.currentline > 0 && strcmp(info.short_src, SPEC_OWN_CHUNK) != 0) return info.currentline;
    }
    return 0;
}

Loc spec_call(lua_State *L, const char *word)
{
    SpecReader *r = spec_reader(L);
    Loc at = { r->path, line_of_call(L), 0 };
    if (at.line) at.column = lexer_word(r->lexer, at.line, word);
    return at;
}
