/* repl_models.c: the compiled models, and hints for names that a model does not have. */
#include "repl.h"

#include <stdio.h>
#include <string.h>

static const char last_key;

ReplModel *repl_model_at(lua_State *L, int index)
{
    ReplModel *m = luaL_testudata(L, index, REPL_MODEL_TYPE);
    return m && m->session ? m : NULL;
}

/* Push the latest model that is still open, or nil. The table of models is weak: it keeps none
 * alive. */
void repl_push_last(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &last_key) != LUA_TTABLE) return;
    const int table = lua_gettop(L);
    lua_Integer count = 0;
    lua_getfield(L, table, "count");
    count = lua_tointeger(L, -1);
    lua_pop(L, 1);
    for (; count > 0; count--) {
        lua_rawgeti(L, table, count);
        if (repl_model_at(L, -1)) break;
        lua_pop(L, 1);
    }
    if (!count) lua_pushnil(L);
    lua_remove(L, table);
}

void repl_remember(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &last_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_newtable(L);
        lua_pushliteral(L, "v");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &last_key);
    }
    lua_getfield(L, -1, "count");
    const lua_Integer count = lua_tointeger(L, -1) + 1;
    lua_pop(L, 1);
    lua_pushinteger(L, count);
    lua_setfield(L, -2, "count");
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, count);
    lua_pop(L, 1);
}

ReplModel *repl_last_model(lua_State *L)
{
    repl_push_last(L);
    ReplModel *m = repl_model_at(L, -1);
    lua_pop(L, 1);
    return m;
}

const char *repl_near(lua_State *L, const ReplModel *m, const char *name, const char *near)
{
    const Model *model = m->session->model;
    char stack[8];
    int layer, end = 0;
    if (near) lua_pushfstring(L, "; did you mean '%s'?", near);
    else lua_pushliteral(L, "");
    if (model->graph || sscanf(name, "%7[a-z].%d.%n", stack, &layer, &end) != 2 || !end) return lua_tostring(L, -1);
    const bool encoder = model->has_encoder && strcmp(stack, "encoder") == 0, decoder = model->has_decoder && strcmp(stack, "decoder") == 0;
    const int layers = (int)(encoder ? model->encoder.layers : decoder ? model->decoder.layers : 0);
    if (layers == 1 && layer) lua_pushfstring(L, "; %s has only layer 0", stack);
    else if (layers && (layer < 0 || layer >= layers)) lua_pushfstring(L, "; %s has layers 0 to %d", stack, layers - 1);
    else lua_pushliteral(L, "");
    lua_insert(L, -2);          /* the layers first */
    lua_concat(L, 2);
    return lua_tostring(L, -1);
}
