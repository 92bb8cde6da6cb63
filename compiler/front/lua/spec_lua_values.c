/* spec_lua_values.c: specs as Lua values, Lua values as text, and errors at a place. */
#include "spec_lua.h"

#include <math.h>

enum { ERROR_COST = 10000 };

static const char told; /* its address is the error value of spec_fail */

const char *spec_describe(lua_State *L, int index)
{
    enum { SHOWN = 40 };
    Arena *a = spec_reader(L)->arena;
    switch (lua_type(L, index)) {
    case LUA_TNONE: case LUA_TNIL: return "nothing";
    case LUA_TBOOLEAN: return lua_toboolean(L, index) ? "true" : "false";
    case LUA_TSTRING: return arena_format(a, "\"%.*s\"", SHOWN, lua_tostring(L, index));
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) return arena_format(a, "%lld", (long long)lua_tointeger(L, index));
        return isnan(lua_tonumber(L, index)) ? "nan" : arena_format(a, "%.14g", (double)lua_tonumber(L, index));
    case LUA_TUSERDATA:
        if (luaL_testudata(L, index, "xf.builder")) return "a graph's builder";
        return spec_at(L, index) ? "a spec" : luaL_testudata(L, index, "xf.value") ? "a graph's value" : "an object";
    default: return arena_format(a, "a %s", luaL_typename(L, index));
    }
}

void spec_fail(lua_State *L, Loc at, const char *format, ...)
{
    SpecReader *r = spec_reader(L);
    va_list args;
    va_start(args, format);
    if (format) diag_error(r->diag, EXIT_BAD_DATA, at, "%s", arena_vformat(r->arena, format, args));
    va_end(args);
    sandbox_charge(L, ERROR_COST);      /* ends a loop of caught errors soon */
    lua_pushlightuserdata(L, (void *)(uintptr_t)&told);
    lua_error(L);
    die("lua_error returned");
}

bool spec_is_told(lua_State *L, int index)
{
    return lua_touserdata(L, index) == &told;
}

void spec_no_more(lua_State *L, Loc at, int most, const char *takes)
{
    for (int i = most + 1; i <= lua_gettop(L); i++)
        if (!lua_isnil(L, i))
            spec_fail(L, at, "%s; unexpected argument %d, %s", takes, i, spec_describe(L, i));
}

Draft *spec_new_draft(lua_State *L, Loc at)
{
    SpecReader *r = spec_reader(L);
    if (r->specs++ == MAX_SPECS) spec_fail(L, at, "more than %d models and graphs in one spec", MAX_SPECS);
    Draft *d = arena_alloc(r->arena, sizeof *d);
    d->path = r->path;
    d->at = at;
    return d;
}

void spec_push(lua_State *L, const Draft *draft)
{
    const Draft **p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = draft;
    luaL_setmetatable(L, SPEC_TYPE);
}

const Draft *spec_at(lua_State *L, int index)
{
    const Draft **p = luaL_testudata(L, index, SPEC_TYPE);
    return p ? *p : NULL;
}
