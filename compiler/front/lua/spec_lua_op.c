/* spec_lua_op.c: read xf.op{…}, an operation written in C, and calls of it: their attributes, and
 * the shape that its Lua function computes. The C is checked when the graph is built. xf.op is
 * allowed only if shape_of is set, since the C runs in this process. */
#include "reserved_names.h"
#include "spec_lua.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_OPS = 1000, LONGEST_NAME = 40, LONGEST_C = 1 << 16 };

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if ((unsigned char)*s >= 0x80 || (!isalnum((unsigned char)*s) && *s != '_')) return false;
    return true;
}

/* Read the string on top of the stack as a C identifier that hides no word of C, its library or
 * rt.h. */
static const char *c_name(lua_State *L, Loc at, const char *what)
{
    const char *name = spec_text(L, -1, at, what);
    if (!name) spec_fail(L, at, NULL);
    if (!is_identifier(name) || strlen(name) > LONGEST_NAME)
        spec_fail(L, at, "%s, \"%.60s\", must be a C identifier of at most %d characters", what, name, LONGEST_NAME);
    if (!strncmp(name, "rt_", 3) || !strncmp(name, "RT_", 3) || !strncmp(name, "XF_", 3) || *name == '_' || name_is_of_c(name))
        spec_fail(L, at, "%s, \"%s\", is reserved in C or C++, or begins with _, rt_, RT_ or XF_", what, name);
    return name;
}

/* Reserve a name in the C code; a duplicate is an error. An input needs four, an attribute one. */
static void take_name(lua_State *L, NameMap *taken, Loc at, const char *name)
{
    if (name_map_find(taken, name)) spec_fail(L, at, "the name \"%s\" is already used in the C code of the operation", name);
    name_map_add(taken, name, taken);
}

static void take_value(lua_State *L, NameMap *taken, Loc at, const char *name)
{
    Arena *a = spec_reader(L)->arena;
    take_name(L, taken, at, name);
    take_name(L, taken, at, arena_format(a, "%s_rows", name));
    take_name(L, taken, at, arena_format(a, "%s_columns", name));
    take_name(L, taken, at, arena_format(a, "%s_stride", name));
}

/* ---- the fields: the table is at 1 -------------------------------------------------------------------------- */

static void read_inputs(lua_State *L, CustomOp *op, NameMap *taken)
{
    op->inputs[0] = "x";
    op->input_count = 1;
    if (lua_getfield(L, 1, "inputs") != LUA_TNIL) {
        const int64_t n = lua_istable(L, -1) ? spec_list(L, lua_gettop(L)) : -1;
        if (!lua_istable(L, -1)) spec_fail(L, op->at, "inputs of xf.op must be a list of names, found %s", spec_describe(L, -1));
        if (n < 1 || n > MAX_CUSTOM_INPUTS) spec_fail(L, op->at, "inputs of xf.op must be a plain list of 1 to %d names", MAX_CUSTOM_INPUTS);
        op->input_count = (int)n;
        for (int i = 0; i < op->input_count; i++) {
            lua_rawgeti(L, -1, i + 1);
            op->inputs[i] = c_name(L, op->at, "an input of xf.op");
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    for (int i = 0; i < op->input_count; i++) take_value(L, taken, op->at, op->inputs[i]);
}

/* Insert in order of names, since the order of the table is not defined. */
static void add_attribute(lua_State *L, CustomOp *op, NameMap *taken)
{
    if (op->attribute_count == MAX_ATTRIBUTES) spec_fail(L, op->at, "xf.op has more than %d attributes", MAX_ATTRIBUTES);
    if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TNUMBER)
        spec_fail(L, op->at, "attributes of xf.op must be { name = number, … }; the numbers are defaults");
    const double number = lua_tonumber(L, -1);
    if (!isfinite((float)number)) spec_fail(L, op->at, "attribute %s of xf.op is not a finite float", lua_tostring(L, -2));
    lua_pushvalue(L, -2);
    const char *name = c_name(L, op->at, "an attribute of xf.op");
    lua_pop(L, 1);
    take_name(L, taken, op->at, name);
    int i = op->attribute_count++;
    for (; i && strcmp(op->attributes[i - 1].name, name) > 0; i--) op->attributes[i] = op->attributes[i - 1];
    op->attributes[i].name = name;
    op->attributes[i].number = number;
}

static void read_attributes(lua_State *L, CustomOp *op, NameMap *taken)
{
    const int type = lua_getfield(L, 1, "attributes");
    if (type != LUA_TNIL && type != LUA_TTABLE) spec_fail(L, op->at, "attributes of xf.op must be a table, found %s", spec_describe(L, -1));
    if (type == LUA_TTABLE)
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) add_attribute(L, op, taken);
    lua_pop(L, 1);
}

static void read_c(lua_State *L, CustomOp *op)
{
    SpecReader *r = spec_reader(L);
    size_t size;
    if (lua_getfield(L, 1, "c") != LUA_TSTRING) spec_fail(L, op->at, "c of xf.op must be a string, found %s", spec_describe(L, -1));
    const char *c = lua_tolstring(L, -1, &size);
    if (size > LONGEST_C) spec_fail(L, op->at, "c of xf.op is longer than %d bytes", LONGEST_C);
    if (strlen(c) != size) spec_fail(L, op->at, "c of xf.op contains a zero byte");
    if (!c[strspn(c, " \t\r\n")]) spec_fail(L, op->at, "c of xf.op is empty");
    op->c = arena_copy(r->arena, c, size);
    Loc field = { r->path, 0, 0 }, again;
    op->text = op->at;
    if (lexer_field(r->lexer, op->at.line, "op", NULL, "c", &field, &again)) {
        const Loc text = lexer_string(r->lexer, field);
        op->text = text.line ? text : field;
    }
    lua_pop(L, 1);
}

static void check_fields(lua_State *L, Loc at)
{
    static const char *const words[] = { "name", "inputs", "attributes", "shape", "c" };
    enum { WORDS = sizeof words / sizeof *words };
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) spec_fail(L, at, "xf.op takes a table with name, inputs, attributes, shape and c");
        const char *key = lua_tostring(L, -2), *near;
        bool known = false;
        for (int i = 0; i < WORDS; i++) known |= !strcmp(words[i], key);
        if (known) continue;
        near = diag_nearest(key, words, WORDS);
        spec_fail(L, at, "xf.op has no field \"%.40s\"; %s%s%s", key,
                  near ? "did you mean \"" : "its fields are name, inputs, attributes, shape and c", near ? near : "", near ? "\"?" : "");
    }
}

static void add_op(SpecReader *r, CustomOp *op)
{
    const int n = r->custom_count;
    if (!(n & (n - 1)))             /* full at every power of two: double the room */
        r->custom = arena_grow(r->arena, r->custom, (size_t)n * sizeof *r->custom, (n ? 2 * (size_t)n : 1) * sizeof *r->custom);
    r->custom[r->custom_count++] = op;
}

/* xf.op{ name =, inputs =, attributes =, shape = function … end, c = [[ … ]] } */
int spec_op(lua_State *L)
{
    SpecReader *r = spec_reader(L);
    const Loc at = spec_call(L, "op");
    if (!r->shape_of) spec_fail(L, at, "xf.op runs C code in this process, so a spec file may use it only with --allow-c");
    if (!lua_istable(L, 1)) spec_fail(L, at, "xf.op needs a table, found %s", spec_describe(L, 1));
    spec_no_more(L, at, 1, "xf.op takes a table");
    lua_settop(L, 1);
    check_fields(L, at);
    CustomOp *op = arena_alloc(r->arena, sizeof *op);
    op->at = at;
    lua_getfield(L, 1, "name");
    op->name = c_name(L, at, "the name of xf.op");
    if (spec_is_builder_word(r, op->name)) spec_fail(L, at, "g.%s already exists", op->name);
    if (name_is_reserved(op->name)) spec_fail(L, at, "the name of xf.op, \"%s\", is reserved by the emitted program", op->name);
    if (r->custom_count == MAX_OPS) spec_fail(L, at, "more than %d operations", MAX_OPS);
    NameMap *taken = name_map_new(r->arena);
    take_value(L, taken, at, "y");
    take_name(L, taken, at, "begin");
    take_name(L, taken, at, "end");
    read_inputs(L, op, taken);
    read_attributes(L, op, taken);
    read_c(L, op);
    if (lua_getfield(L, 1, "shape") != LUA_TFUNCTION)
        spec_fail(L, at, "shape of xf.op must be a function from the inputs' shapes to {rows, columns}, found %s", spec_describe(L, -1));
    lua_rawsetp(L, LUA_REGISTRYINDEX, op);
    add_op(r, op);
    return 0;
}

/* ---- calls -------------------------------------------------------------------------------------------------- */

static int attribute_number(lua_State *L, const CustomOp *op, Loc at)
{
    const char *words[MAX_ATTRIBUTES], *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    for (int i = 0; i < op->attribute_count; i++)
        if (!strcmp(words[i] = op->attributes[i].name, key)) return i;
    const char *near = diag_nearest(key, words, op->attribute_count);
    spec_fail(L, at, "%s has no attribute \"%.40s\"%s%s%s", op->name, key, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static void read_given(lua_State *L, GraphCall *c, int table)
{
    const CustomOp *op = c->custom;
    c->option_count = op->attribute_count;
    for (int i = 0; i < op->attribute_count; i++) {
        c->options[i].name = op->attributes[i].name;
        c->options[i].number = op->attributes[i].number;
    }
    if (!table) return;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        const int i = attribute_number(L, op, c->at);
        if (lua_type(L, -1) != LUA_TNUMBER || !isfinite((float)lua_tonumber(L, -1)))
            spec_fail(L, c->at, "%s of %s must be a finite number, found %s", op->attributes[i].name, op->name, spec_describe(L, -1));
        c->options[i].number = lua_tonumber(L, -1);
    }
}

static void push_shape(lua_State *L, int rank, const int64_t *shape)
{
    lua_createtable(L, rank, 0);
    for (int r = 0; r < rank; r++) {
        lua_pushinteger(L, shape[r]);
        lua_rawseti(L, -2, r + 1);
    }
}

/* Read the shape {rows, columns} from the table on top of the stack. */
static void read_shape(lua_State *L, GraphCall *c)
{
    if (!lua_istable(L, -1) || spec_list(L, lua_gettop(L)) != 2)
        spec_fail(L, c->at, "the shape of %s must be {rows, columns}, found %s", c->op,
                  lua_istable(L, -1) ? "a table of a different form" : spec_describe(L, -1));
    c->rank = 2;
    for (int r = 0; r < 2; r++) {
        int whole = 0;
        lua_rawgeti(L, -1, r + 1);
        c->shape[r] = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &whole) : 0;
        if (!whole || c->shape[r] < 1 || c->shape[r] > INT32_MAX)
            spec_fail(L, c->at, "the shape of %s: size %d must be a whole number from 1 to %d, found %s", c->op, r + 1, INT32_MAX,
                      spec_describe(L, -1));
        lua_pop(L, 1);
    }
}

void spec_custom_call(lua_State *L, GraphSpec *spec, GraphCall *c, int table)
{
    SpecReader *r = spec_reader(L);
    const CustomOp *op = c->custom;
    read_given(L, c, table);
    luaL_checkstack(L, c->input_count + 4, op->name);
    lua_rawgetp(L, LUA_REGISTRYINDEX, op);
    for (int i = 0; i < c->input_count; i++) {
        int64_t shape[MAX_RANK];
        const int rank = r->shape_of(r->arena, spec, c->inputs[i], shape);
        /* unknown shape: its cause is reported when the graph is built, so skip this call */
        if (!rank) {
            c->rank = 2;
            c->shape[0] = c->shape[1] = 1;
            lua_settop(L, c->input_count);
            return;
        }
        push_shape(L, rank, shape);
    }
    lua_createtable(L, 0, c->option_count);
    for (int i = 0; i < c->option_count; i++) {
        lua_pushnumber(L, c->options[i].number);
        lua_setfield(L, -2, c->options[i].name);
    }
    lua_call(L, c->input_count + 1, 1);
    read_shape(L, c);
    lua_pop(L, 1);
}
