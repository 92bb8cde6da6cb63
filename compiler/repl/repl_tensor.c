/* repl_tensor.c: tensors at the prompt: printed with shape and range, indexed from 1 as in Lua,
 * sliced, scaled, saved. */
#include "repl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json_text.h"
#include "tensor_text.h"

/* ---- describing -------------------------------------------------------------------------------------------------- */

static void add_shape(luaL_Buffer *b, lua_State *L, const ReplTensor *t)
{
    luaL_addstring(b, "f32[");
    for (int i = 0; i < t->rank; i++) {
        lua_pushfstring(L, "%s%I", i ? "×" : "", (LUAI_UACINT)t->shape[i]);
        luaL_addvalue(b);
    }
    luaL_addstring(b, "]");
}

/* Append all numbers, row by row. */
static void add_numbers(luaL_Buffer *b, const ReplTensor *t)
{
    const int64_t columns = t->rank ? t->shape[t->rank - 1] : 1, n = repl_tensor_elements(t);
    const int width = tensor_cell_width(t->values, n);
    char cell[TENSOR_CELL], line[2 * TENSOR_CELL];
    for (int64_t i = 0; i < n; i++) {
        if (i % columns == 0) luaL_addstring(b, t->rank == 3 && i && i % (columns * t->shape[1]) == 0 ? "\n\n  " : "\n  ");
        tensor_cell(cell, t->values[i]);
        snprintf(line, sizeof line, "%s%*s", i % columns ? " " : "", width, cell);
        luaL_addstring(b, line);
    }
}

static int describe(lua_State *L)
{
    enum { MOST_COLUMNS = 10, MOST_NUMBERS = 160 };
    const ReplTensor *t = repl_check_tensor(L, 1);
    const ReplRange r = repl_range(t);
    const int64_t columns = t->rank ? t->shape[t->rank - 1] : 1;
    char line[128];
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    add_shape(&b, L, t);
    snprintf(line, sizeof line, " min %.4g max %.4g mean %.4g", r.least, r.most, isnan(r.mean) ? (double)NAN : r.mean);
    luaL_addstring(&b, line);
    if (r.non_finite) {
        snprintf(line, sizeof line, ", %lld not finite", (long long)r.non_finite);
        luaL_addstring(&b, line);
    }
    if (columns <= MOST_COLUMNS && repl_tensor_elements(t) <= MOST_NUMBERS) add_numbers(&b, t);
    luaL_pushresult(&b);
    return 1;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static int64_t inner(const ReplTensor *t) { return t->rank ? repl_tensor_elements(t) / (t->shape[0] ? t->shape[0] : 1) : 1; }

/* t[i]: the i-th part along the first dimension: a tensor of one rank less, or a number. */
static int part(lua_State *L, const ReplTensor *t, lua_Integer i)
{
    if (!t->rank || i < 1 || i > t->shape[0])
        return luaL_error(L, "index %I is outside the range 1 to %I", (LUAI_UACINT)i, (LUAI_UACINT)(t->rank ? t->shape[0] : 0));
    const float *at = t->values + (i - 1) * inner(t);
    if (t->rank == 1) lua_pushnumber(L, (double)*at);
    else repl_push_tensor(L, t->name, t->rank - 1, t->shape + 1, at);
    return 1;
}

/* Read the argument that selects a dimension, counted from 1; default: 1. Returns it counted from
 * 0. */
static int take_dimension(lua_State *L, const ReplTensor *t, int argument)
{
    const lua_Integer d = luaL_optinteger(L, argument, 1);
    if (d < 1 || d > t->rank) luaL_error(L, "dimension %I is outside the range 1 to %d", (LUAI_UACINT)d, t->rank);
    return (int)d - 1;
}

static void need_part(lua_State *L, const ReplTensor *t, lua_Integer d, lua_Integer from, lua_Integer to)
{
    if (from < 1 || to < from || to > t->shape[d])
        luaL_error(L, "%I to %I is not a part of the range 1 to %I of dimension %I", (LUAI_UACINT)from, (LUAI_UACINT)to, (LUAI_UACINT)t->shape[d],
                   (LUAI_UACINT)(d + 1));
}

/* t:slice(from, to): a part along the first dimension; t:slice(from, to, 2): along the second. */
static int slice(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    const int d = take_dimension(L, t, 4);
    lua_Integer from = luaL_checkinteger(L, 2), to = luaL_optinteger(L, 3, from);
    need_part(L, t, d, from, to);
    ReplTensor shape = *t;
    shape.shape[d] = to - from + 1;
    int64_t outer = 1, block = 1;
    for (int i = 0; i < d; i++) outer *= t->shape[i];
    for (int i = (int)d + 1; i < t->rank; i++) block *= t->shape[i];
    float *values = malloc((size_t)repl_tensor_elements(&shape) * sizeof *values + 1);
    if (!values) no_memory("a slice of %lld numbers", (long long)repl_tensor_elements(&shape));
    const int64_t n = shape.shape[d] * block;
    for (int64_t i = 0; i < outer; i++)
        memcpy(values + i * n, t->values + (i * t->shape[d] + from - 1) * block, (size_t)n * sizeof *values);
    repl_push_tensor(L, t->name, t->rank, shape.shape, values);
    free(values);
    return 1;
}

/* t:scaled(factor), t:scaled(factor, from, to, dimension): a copy that is multiplied by the factor,
 * as a whole or in that part. */
static int scaled(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    const float factor = (float)luaL_checknumber(L, 2);
    const int d = take_dimension(L, t, 5);
    const lua_Integer from = luaL_optinteger(L, 3, 1), to = luaL_optinteger(L, 4, t->shape[d]);
    need_part(L, t, d, from, to);
    ReplTensor *copy = repl_push_tensor(L, t->name, t->rank, t->shape, t->values);
    int64_t block = 1;
    for (int i = d + 1; i < t->rank; i++) block *= t->shape[i];
    const int64_t n = repl_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = i / block % t->shape[d] + 1;
        if (at >= from && at <= to) copy->values[i] *= factor;
    }
    return 1;
}

static int shape(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    lua_createtable(L, t->rank, 0);
    for (int i = 0; i < t->rank; i++) {
        lua_pushinteger(L, t->shape[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int as_table(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    const int64_t n = repl_tensor_elements(t);
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        lua_pushnumber(L, (double)t->values[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* A file with this one tensor, under its name. */
static Text safetensors_text(Arena *a, const ReplTensor *t)
{
    Text head = text_new(a), whole = text_new(a);
    const size_t bytes = (size_t)repl_tensor_elements(t) * sizeof *t->values;
    text_add(&head, "{");
    json_add_string(&head, t->name);
    text_add(&head, ":{\"dtype\":\"F32\",\"shape\":[");
    for (int i = 0; i < t->rank; i++) text_printf(&head, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    text_printf(&head, "],\"data_offsets\":[0,%zu]}}", bytes);
    while (head.size % 8) text_add(&head, " ");
    for (int i = 0; i < 8; i++) {
        const char byte = (char)((uint64_t)head.size >> (8 * i));
        text_add_bytes(&whole, &byte, 1);
    }
    text_add_bytes(&whole, head.data, head.size);
    text_add_bytes(&whole, (const char *)t->values, bytes);
    return whole;
}

/* NumPy's format, version 1.0: magic and version; the length of the header in two bytes; the
 * header, padded with blanks and a newline so that it ends at a multiple of 64 bytes; and the
 * numbers in C order. */
static Text npy_text(Arena *a, const ReplTensor *t)
{
    enum { BEFORE_HEADER = 10, ALIGNMENT = 64 };
    Text head = text_new(a), whole = text_new(a);
    text_add(&head, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < t->rank; i++)
        text_printf(&head, "%s%lld%s", i ? " " : "", (long long)t->shape[i],
                    i + 1 < t->rank || t->rank == 1 ? "," : "");
    text_add(&head, "), }");
    while ((BEFORE_HEADER + head.size + 1) % ALIGNMENT) text_add(&head, " ");
    text_add(&head, "\n");
    const char bytes[] = { (char)head.size, (char)(head.size >> 8) };
    text_add_bytes(&whole, "\x93NUMPY\x01\x00", 8);
    text_add_bytes(&whole, bytes, sizeof bytes);
    text_add_bytes(&whole, head.data, head.size);
    text_add_bytes(&whole, (const char *)t->values,
                   (size_t)repl_tensor_elements(t) * sizeof *t->values);
    return whole;
}

/* t:save("file.safetensors"), t:save("file.npy"): the extension selects the format. */
static int save(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    const char *path = luaL_checkstring(L, 2);
    const bool npy = text_ends(path, ".npy"), bare = !strcmp(path, ".npy") || !strcmp(path, ".safetensors");
    if (bare || (!npy && !text_ends(path, ".safetensors")))
        return luaL_error(L, "t:save: %s: the file name must be NAME.safetensors or NAME.npy", path);
    Arena *a = repl_scratch(L);
    Diag *d = diag_new(a);
    const Text whole = npy ? npy_text(a, t) : safetensors_text(a, t);
    if (!file_write(a, d, path, whole.data, whole.size)) repl_raise(L, d);
    return 0;
}

static int index_tensor(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    int number;
    const lua_Integer i = lua_tointegerx(L, 2, &number);
    if (number) return part(L, t, i);
    if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "name") == 0) return lua_pushstring(L, t->name), 1;
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    if (lua_isnil(L, -1)) return luaL_error(L, "a tensor has no '%s'; see ?tensor", luaL_tolstring(L, 2, NULL));
    return 1;
}

static int assign(lua_State *L)
{
    (void)repl_check_tensor(L, 1);
    return luaL_error(L, "tensors are read-only; use t + u, t:scaled or xf.tensor to make new ones, and m:set to change weights");
}

static int length(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    lua_pushinteger(L, t->rank ? t->shape[0] : 1);
    return 1;
}

void repl_open_tensor(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "shape", shape, "" }, { "slice", slice, "from whole, to whole?, dimension whole?" },
        { "scaled", scaled, "factor number, from whole?, to whole?, dimension whole?" },
        { "table", as_table, "" }, { "save", save, "file text" }, { NULL, NULL, NULL }
    };
    static const luaL_Reg meta[] = { { "__tostring", describe }, { "__len", length }, { "__newindex", assign }, { NULL, NULL } };
    luaL_newmetatable(L, REPL_TENSOR_TYPE);
    luaL_setfuncs(L, meta, 0);
    lua_newtable(L);
    repl_set_functions(L, "t:", methods);
    repl_add_math(L, lua_gettop(L) - 1, lua_gettop(L));
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, index_tensor, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
