/* repl_arguments.c: check the arguments of the prompt's C functions before they run. Missing,
 * surplus and mistyped arguments are errors; none is ignored. */
#include "repl.h"

#include <string.h>

/* One parameter of ReplFunction.takes, a list "name kind, name kind?, …". */
typedef struct Parameter {
    int name_size, kind_size;
    const char *name, *kind;
    bool optional;
} Parameter;

static bool next_parameter(const char **text, Parameter *p)
{
    if (!**text) return false;
    p->name = *text;
    p->name_size = (int)strcspn(p->name, " ");
    p->kind = p->name + p->name_size + 1;
    p->kind_size = (int)strcspn(p->kind, ",");
    *text = p->kind + p->kind_size + 2 * (p->kind[p->kind_size] == ',');
    p->optional = p->kind[p->kind_size - 1] == '?';
    p->kind_size -= p->optional;
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *repl_described(lua_State *L, int index)
{
    enum { SHOWN = 40 };
    switch (lua_type(L, index)) {
    case LUA_TNONE: case LUA_TNIL: return "nothing";
    case LUA_TSTRING:
        if (strlen(lua_tostring(L, index)) > SHOWN) return "a long string";
        return lua_pushfstring(L, "\"%s\"", lua_tostring(L, index));
    case LUA_TNUMBER: case LUA_TBOOLEAN: return luaL_tolstring(L, index, NULL);
    case LUA_TUSERDATA:
        if (repl_tensor_at(L, index)) return "a tensor";
        if (repl_model_at(L, index)) return "a model";
        return spec_at(L, index) ? "a spec" : "a value of another kind";
    default: return lua_pushfstring(L, "a %s", luaL_typename(L, index));
    }
}

/* Push the signature of a function, such as "t:slice(from[, to[, dimension]])". */
static const char *push_signature(lua_State *L, const char *prefix, const ReplFunction *f)
{
    const char *text = f->takes, *close = "";
    Parameter p;
    bool first = true;
    if (strcmp(f->name, "__call") == 0) lua_pushfstring(L, "%c(", *prefix);
    else lua_pushfstring(L, "%s%s(", prefix, f->name);
    for (; next_parameter(&text, &p); first = false) {
        lua_pushlstring(L, p.name, (size_t)p.name_size);
        lua_pushfstring(L, "%s%s%s%s", lua_tostring(L, -2), p.optional ? "[" : "",
                        first ? "" : ", ", lua_tostring(L, -1));
        lua_replace(L, -3);
        lua_pop(L, 1);
        if (p.optional) close = lua_pushfstring(L, "%s]", close), lua_insert(L, -2);
    }
    return lua_pushfstring(L, "%s%s)", lua_tostring(L, -1), close);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool is_kind(lua_State *L, int index, const char *kind, size_t n)
{
    const int type = lua_type(L, index);
    int whole = 0;
    if (strncmp(kind, "any", n) == 0) return type != LUA_TNONE;
    if (strncmp(kind, "text", n) == 0) return type == LUA_TSTRING;
    if (strncmp(kind, "table", n) == 0) return type == LUA_TTABLE;
    if (strncmp(kind, "function", n) == 0) return type == LUA_TFUNCTION;
    if (strncmp(kind, "number", n) == 0) return type == LUA_TNUMBER;
    if (strncmp(kind, "whole", n) == 0) {
        if (type == LUA_TNUMBER) lua_tointegerx(L, index, &whole);
        return whole;
    }
    if (strncmp(kind, "tensor", n) == 0) return repl_tensor_at(L, index) != NULL;
    if (strncmp(kind, "numbers", n) == 0) return type == LUA_TTABLE || repl_tensor_at(L, index);
    die("no kind %s of arguments", kind);
}

static bool fits(lua_State *L, int index, const Parameter *p)
{
    for (const char *kind = p->kind, *end = kind + p->kind_size; kind < end;) {
        size_t n = 0;
        while (kind + n < end && kind[n] != '|') n++;
        if (is_kind(L, index, kind, n)) return true;
        kind += n + 1;
    }
    return false;
}

/* Push the expected kind, such as "a whole number" or "a string or a table". */
static const char *push_wanted(lua_State *L, const Parameter *p)
{
    static const struct { const char *kind, *words; } all[] = {
        { "text", "a string" }, { "table", "a table" }, { "function", "a function" },
        { "number", "a number" }, { "whole", "a whole number" }, { "tensor", "a tensor" },
        { "numbers", "a tensor or a table of numbers" }, { "any", "given" },
    };
    lua_pushliteral(L, "");
    for (const char *kind = p->kind, *end = kind + p->kind_size; kind < end;) {
        size_t n = 0;
        while (kind + n < end && kind[n] != '|') n++;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (strlen(all[i].kind) == n && strncmp(kind, all[i].kind, n) == 0)
                lua_pushfstring(L, "%s%s%s", lua_tostring(L, -1),
                                *lua_tostring(L, -1) ? " or " : "", all[i].words);
        kind += n + 1;
    }
    return lua_tostring(L, -1);
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Trailing nils count as not given. */
static void drop_nils(lua_State *L, int first)
{
    while (lua_gettop(L) >= first && lua_isnil(L, -1)) lua_pop(L, 1);
}

static void check(lua_State *L, const char *prefix, const ReplFunction *f, int first)
{
    const char *text = f->takes;
    Parameter p;
    int at = first;
    luaL_checkstack(L, 20, "arguments");
    drop_nils(L, first);
    const int top = lua_gettop(L);
    for (; next_parameter(&text, &p); at++) {
        repl_check_nul(L, at);
        if ((p.optional && lua_isnoneornil(L, at)) || fits(L, at, &p)) continue;
        const char *found = repl_described(L, at);      /* before its stack place is reused */
        const char *signature = push_signature(L, prefix, f);
        const char *name = lua_pushlstring(L, p.name, (size_t)p.name_size);
        luaL_error(L, "%s: %s must be %s, found %s", signature, name, push_wanted(L, &p), found);
    }
    if (top < at) return;
    const char *signature = push_signature(L, prefix, f);
    luaL_error(L, "%s: unexpected argument %d, %s", signature, at - first + 1,
               repl_described(L, at));
}

/* Upvalues: the prefix, the ReplFunction. A method called without its object is not checked here:
 * f->run reports that. */
static int checked(lua_State *L)
{
    const char *prefix = lua_touserdata(L, lua_upvalueindex(1));
    const ReplFunction *f = lua_touserdata(L, lua_upvalueindex(2));
    const bool method = !strchr(prefix, '.');
    if (!method || lua_type(L, 1) == LUA_TUSERDATA) check(L, prefix, f, method ? 2 : 1);
    return f->run(L);
}

void repl_set_functions(lua_State *L, const char *prefix, const ReplFunction *functions)
{
    for (const ReplFunction *f = functions; f->name; f++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)prefix);
        lua_pushlightuserdata(L, (void *)(uintptr_t)f);
        lua_pushcclosure(L, checked, 2);
        lua_setfield(L, -2, f->name);
    }
}
