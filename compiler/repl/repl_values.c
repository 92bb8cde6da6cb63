/* repl_values.c: tensors as Lua values, and arenas for one call. */
#include "repl.h"

#include <string.h>

ReplTensor *repl_push_tensor(lua_State *L, const char *name, int rank, const int64_t *shape, const float *values)
{
    ReplTensor head = { .rank = rank };
    memcpy(head.shape, shape, (size_t)rank * sizeof *shape);
    const size_t bytes = (size_t)repl_tensor_elements(&head) * sizeof *values, letters = strlen(name) + 1;
    /* One block, so that the collector knows its size. */
    ReplTensor *t = lua_newuserdatauv(L, sizeof *t + bytes + letters, 0);
    head.values = (float *)(void *)(t + 1);
    head.name = (char *)(t + 1) + bytes;
    *t = head;
    if (bytes) memcpy(t->values, values, bytes);
    memcpy(t->name, name, letters);
    luaL_setmetatable(L, REPL_TENSOR_TYPE);
    return t;
}

ReplTensor *repl_tensor_at(lua_State *L, int index) { return luaL_testudata(L, index, REPL_TENSOR_TYPE); }

ReplTensor *repl_check_tensor(lua_State *L, int index)
{
    ReplTensor *t = luaL_testudata(L, index, REPL_TENSOR_TYPE);
    if (!t) luaL_error(L, "expected a tensor, found %s; call methods with a colon: t:shape()", repl_found(L, index));
    return t;
}

int64_t repl_tensor_elements(const ReplTensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->shape[i];
    return n;
}

static int free_scratch(lua_State *L)
{
    Arena **a = lua_touserdata(L, 1);
    arena_free(*a);
    *a = NULL;
    return 0;
}

Arena *repl_scratch(lua_State *L)
{
    luaL_checkstack(L, 4, "too many scratch arenas");
    Arena **a = lua_newuserdatauv(L, sizeof *a, 0);
    *a = NULL;
    if (luaL_newmetatable(L, "xf.scratch")) {
        lua_pushcfunction(L, free_scratch);
        lua_setfield(L, -2, "__gc");
        lua_pushcfunction(L, free_scratch);
        lua_setfield(L, -2, "__close");
    }
    lua_setmetatable(L, -2);
    *a = arena_new();
    lua_toclose(L, -1);
    return *a;
}
