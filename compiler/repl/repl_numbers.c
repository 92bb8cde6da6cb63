/* repl_numbers.c: numbers from Lua: a tensor, or a table of numbers whose nesting is the shape. */
#include "repl.h"

#include <string.h>

typedef struct NumbersIn { float *out; int64_t n; int rank; int64_t shape[4]; } NumbersIn;

/* Append the numbers of nested tables, by raw access: no metamethod runs. The first table at each
 * depth sets the length of the others. out NULL: only count. */
static void add_table(lua_State *L, int index, NumbersIn *x, int depth)
{
    enum { DEEPEST = 4 };
    const lua_Unsigned length = lua_rawlen(L, index);
    const bool first = depth == x->rank;
    if (depth >= DEEPEST) luaL_error(L, "tables of numbers are nested more than %d deep", DEEPEST);
    if (first) x->shape[x->rank++] = (int64_t)length;
    if ((lua_Unsigned)x->shape[depth] != length)
        luaL_error(L, "a row of %d after rows of %d: all rows must have the same length",
                   (int)length, (int)x->shape[depth]);
    luaL_checkstack(L, 4, "a deep table");
    for (lua_Unsigned i = 1; i <= length; i++) {
        lua_rawgeti(L, index, (lua_Integer)i);
        const bool inner = lua_istable(L, -1);
        if ((inner && depth + 1 == x->rank && !(first && i == 1)) || (!inner && depth + 1 < x->rank))
            luaL_error(L, "number %d: expected a list of numbers, found numbers mixed with tables", (int)x->n + 1);
        if (inner) add_table(L, lua_gettop(L), x, depth + 1);
        else {
            int number;
            const double value = lua_tonumberx(L, -1, &number);
            if (!number) luaL_error(L, "element %d is a %s; expected a number", (int)x->n + 1, luaL_typename(L, -1));
            if (x->out) x->out[x->n] = (float)value;
            x->n++;
        }
        lua_pop(L, 1);
    }
}

ReplTensor repl_values(lua_State *L, int index, Arena *a)
{
    const ReplTensor *t = repl_tensor_at(L, index);
    index = lua_absindex(L, index);
    if (t) return *t;
    if (!lua_istable(L, index)) luaL_error(L, "expected a tensor or a table of numbers, found %s", repl_found(L, index));
    NumbersIn x = { .out = NULL };
    add_table(L, index, &x, 0);
    x = (NumbersIn){ .out = arena_array(a, (size_t)x.n + 1, sizeof *x.out) };
    add_table(L, index, &x, 0);
    ReplTensor made = { .rank = x.rank, .values = x.out };
    memcpy(made.shape, x.shape, sizeof made.shape);
    return made;
}

const float *repl_numbers(lua_State *L, int index, Arena *a, int64_t *n)
{
    const ReplTensor t = repl_values(L, index, a);
    *n = repl_tensor_elements(&t);
    return t.values;
}

const char *repl_shape_text(lua_State *L, int rank, const int64_t *shape)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 0; i < rank; i++) {
        lua_pushfstring(L, "%s%I", i ? " × " : "", (LUAI_UACINT)shape[i]);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    return lua_tostring(L, -1);
}

const float *repl_shaped(lua_State *L, int index, Arena *a, const char *what, int rank, const int64_t *shape)
{
    const ReplTensor t = repl_values(L, index, a);
    const bool flat = t.rank == 1 && !repl_tensor_at(L, index);          /* as in a spec */
    int64_t wanted = 1;
    for (int i = 0; i < rank; i++) wanted *= shape[i];
    if (t.rank == rank && memcmp(t.shape, shape, (size_t)rank * sizeof *shape) == 0) return t.values;
    if (!flat) luaL_error(L, "%s must be %s, found %s", what, repl_shape_text(L, rank, shape), repl_shape_text(L, t.rank, t.shape));
    if (t.shape[0] != wanted) luaL_error(L, "%s takes %s numbers, found %d", what, repl_shape_text(L, rank, shape), (int)t.shape[0]);
    return t.values;
}
