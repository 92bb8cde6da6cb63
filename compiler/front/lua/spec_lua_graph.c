/* spec_lua_graph.c: run the builder of an xf.graph and record its calls to `g`, in order. A value
 * is a handle that belongs to one graph. The first error ends the builder, since later ones would
 * follow from it. */
#include "spec_lua.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 64, MAX_INPUTS = 8, MAX_OPTIONS = 8 };

/* Limits in elements: of one input or cache, 2^30 bytes in f32; of all params together, 2^40
 * bytes. */
static const int64_t MOST_INPUT = (int64_t)1 << 28, MOST_PARAMS = (int64_t)1 << 38;

static const char builder_type[] = "xf.builder", value_type[] = "xf.value";

/* The `g` of one xf.graph, in the arena. */
typedef struct Builder {
    bool alive;
    const char *graph;
    GraphSpec *spec;
    int room;
    NameMap *named;                 /* the first use of each name, a Named */
    NameMap *inputs, *outputs;      /* their names by C name */
    int64_t params;                 /* elements so far */
} Builder;

/* The value that a name belongs to, and the line of its first use. */
typedef struct Named { const char *name; int line, value; } Named;

typedef struct Value { Builder *builder; int index; } Value;

/* ---- calls and values ------------------------------------------------------------------------------------ */

static Builder *builder_at(lua_State *L, int index)
{
    Builder **p = luaL_testudata(L, index, builder_type);
    return p ? *p : NULL;
}

static void push_value(lua_State *L, Builder *b, int index)
{
    Value *v = lua_newuserdatauv(L, sizeof *v, 0);
    *v = (Value){ b, index };
    luaL_setmetatable(L, value_type);
}

/* The value at stack place `index`, which is argument `i` of g.`op`. */
static int value_at(lua_State *L, int index, Builder *b, Loc at, const char *op, int i)
{
    const Value *v = luaL_testudata(L, index, value_type);
    if (!v && i == 1 && builder_at(L, index)) spec_fail(L, at, "call g.%s with a dot: g.%s(…), not g:%s(…)", op, op, op);
    if (!v) spec_fail(L, at, "argument %d of g.%s must be a value of the graph, found %s", i, op, spec_describe(L, index));
    if (v->builder != b) spec_fail(L, at, "argument %d of g.%s is a value of another graph, \"%s\"", i, op, v->builder->graph);
    return v->index;
}

static GraphCall *add_call(lua_State *L, Builder *b, const char *op, Loc at, int results)
{
    GraphSpec *s = b->spec;
    if (spec_reader(L)->calls++ == MAX_CALLS) spec_fail(L, at, "more than %d graph calls in one spec", MAX_CALLS);
    if (s->count == b->room) {
        size_t bytes = sizeof *s->calls * (size_t)b->room, more = bytes ? bytes * 2 : 32 * sizeof *s->calls;
        s->calls = arena_grow(spec_reader(L)->arena, s->calls, bytes, more);
        b->room = (int)(more / sizeof *s->calls);
    }
    GraphCall *c = &s->calls[s->count++];
    *c = (GraphCall){ .op = op, .at = at, .first_result = s->values, .results = results };
    s->values += results;
    return c;
}

/* ---- names, shapes and numbers --------------------------------------------------------------------------- */

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if ((!isalnum((unsigned char)*s) && *s != '_' && *s != '.') || (unsigned char)*s >= 0x80) return false;
    return true;
}

/* A name belongs to one value; g.name and g.output may repeat the name of their value. */
static void check_unique(lua_State *L, Builder *b, const char *name, int value, Loc at)
{
    const Named *before = name_map_find(b->named, name);
    if (before && before->value != value) spec_fail(L, at, "the name \"%s\" is already used on line %d", name, before->line);
    if (before) return;
    Named *n = arena_alloc(spec_reader(L)->arena, sizeof *n);
    *n = (Named){ name, at.line, value };
    name_map_add(b->named, name, n);
}

/* Names of inputs and outputs become parts of the names of C functions, with `.` replaced by `_`,
 * such as NAME_set_a_b for the input a.b: these must be unique, too. */
static void check_c_name(lua_State *L, NameMap *names, const char *what, const char *name, Loc at)
{
    char *c = arena_text(spec_reader(L)->arena, name);
    for (char *p = c; *p; p++)
        if (*p == '.') *p = '_';
    const char *before = name_map_find(names, c);
    if (before && strcmp(before, name)) spec_fail(L, at, "the %ss \"%s\" and \"%s\" become the same C name, %s", what, before, name, c);
    name_map_add(names, c, arena_text(spec_reader(L)->arena, name));
}

static const char *name_at(lua_State *L, Builder *b, const char *op, int value, Loc at)
{
    const char *what = arena_format(spec_reader(L)->arena, "the name of g.%s", op);
    if (builder_at(L, 1)) spec_fail(L, at, "call g.%s with a dot: g.%s(…), not g:%s(…)", op, op, op);
    const char *name = spec_text(L, 1, at, what);
    if (!name) spec_fail(L, at, NULL);
    if (!is_name(name)) spec_fail(L, at, "the name \"%s\" must consist of letters, digits, _ and ., and begin with a letter or _", name);
    if (strlen(name) > LONGEST_NAME) spec_fail(L, at, "the name \"%.20s…\" is longer than %d characters", name, LONGEST_NAME);
    check_unique(L, b, name, value, at);
    return name;
}

static int64_t read_size(lua_State *L, Loc at, const char *name, int i)
{
    int whole = 0;
    int64_t size = 0;
    lua_rawgeti(L, 2, i + 1);
    if (lua_type(L, -1) == LUA_TNUMBER) size = lua_tointegerx(L, -1, &whole);
    if (!whole) spec_fail(L, at, "shape of %s: size %d must be a whole number, found %s", name, i + 1, spec_describe(L, -1));
    if (size < 1 || size > INT32_MAX)
        spec_fail(L, at, "shape of %s: size %d (%" PRId64 ") must be from 1 to %d", name, i + 1, size, INT32_MAX);
    lua_pop(L, 1);
    return size;
}

/* Read the shape at stack place 2; returns its number of elements. */
static int64_t read_shape(lua_State *L, GraphCall *c, const char *name, int64_t most)
{
    if (!lua_istable(L, 2)) spec_fail(L, c->at, "shape of %s must be a table of sizes, found %s", name, spec_describe(L, 2));
    int64_t rank = spec_list(L, 2);
    if (rank < 0) spec_fail(L, c->at, "shape of %s must be a plain list of sizes, without holes or names", name);
    if (rank < 1 || rank > MAX_RANK)
        spec_fail(L, c->at, "shape of %s has %" PRId64 " sizes; from 1 to %d are allowed", name, rank, MAX_RANK);
    c->rank = (int)rank;
    int64_t elements = 1;
    for (int i = 0; i < c->rank; i++) {
        c->shape[i] = read_size(L, c->at, name, i);
        if (__builtin_mul_overflow(elements, c->shape[i], &elements) || elements > most)
            spec_fail(L, c->at, "shape of %s has more than %" PRId64 " elements", name, most);
    }
    return elements;
}

/* lowest: -inf is allowed. The graph checks later that only an attention bias has it. */
static float read_float(lua_State *L, Loc at, const char *name, int64_t i, bool lowest)
{
    lua_rawgeti(L, 3, i + 1);
    if (lua_type(L, -1) != LUA_TNUMBER)
        spec_fail(L, at, "values of %s: number %" PRId64 " is %s; expected a flat list of numbers", name, i + 1, spec_describe(L, -1));
    double value = lua_tonumber(L, -1);
    float f = (float)value;
    if (!isfinite(f) && !(lowest && value <= -INFINITY))
        spec_fail(L, at, "values of %s: number %" PRId64 " (%s) is not a finite float", name, i + 1,
                  spec_describe(L, -1));
    lua_pop(L, 1);
    return f;
}

/* Read the values at stack place 3, one per element of the shape; nil gives none. */
static void read_values(lua_State *L, GraphCall *c, const char *name, int64_t elements, bool lowest)
{
    SpecReader *r = spec_reader(L);
    if (lua_isnoneornil(L, 3)) return;
    if (!lua_istable(L, 3)) spec_fail(L, c->at, "values of %s must be a table of numbers, found %s", name, spec_describe(L, 3));
    int64_t found = spec_list(L, 3);
    if (found < 0) spec_fail(L, c->at, "values of %s must be a plain list of numbers, without holes or names", name);
    if (found != elements)
        spec_fail(L, c->at, "%s has %" PRId64 " value%s; its shape needs %" PRId64, name, found, found == 1 ? "" : "s", elements);
    r->numbers += found;
    if (r->numbers > MAX_NUMBERS) spec_fail(L, c->at, "more than %d numbers in one spec; put those of params into a weights file", MAX_NUMBERS);
    float *values = arena_array(r->arena, (size_t)found, sizeof *values);
    for (int64_t i = 0; i < found; i++) values[i] = read_float(L, c->at, name, i, lowest);
    c->values = values;
    c->value_count = found;
}

/* ---- input, param, cache, name, output -------------------------------------------------------------------------- */

static void declare(lua_State *L, Builder *b, const char *op, Loc at)
{
    GraphCall c = { .at = at };
    bool input = !strcmp(op, "input"), param = !strcmp(op, "param");
    c.name = name_at(L, b, op, b->spec->values, at);
    if (input) check_c_name(L, b->inputs, "input", c.name, at);
    int64_t elements = read_shape(L, &c, c.name, param ? MOST_PARAMS : MOST_INPUT);
    if (param && (b->params += elements) > MOST_PARAMS)
        spec_fail(L, at, "the params of the graph have more than %" PRId64 " elements", MOST_PARAMS);
    if (!input && !param) spec_no_more(L, at, 2, "g.cache takes a name and {capacity, width}");
    Arena *a = spec_reader(L)->arena;
    spec_no_more(L, at, 3, arena_format(a, "g.%s takes a name, a shape and values", op));
    read_values(L, &c, c.name, elements, input);
    GraphCall *added = add_call(L, b, op, at, 1);
    c.op = op;
    c.first_result = added->first_result;
    c.results = 1;
    *added = c;
    push_value(L, b, c.first_result);
}

/* g.name and g.output return the value, so that they can wrap an expression. */
static void give_name(lua_State *L, Builder *b, const char *op, Loc at)
{
    if (builder_at(L, 1)) spec_fail(L, at, "call g.%s with a dot: g.%s(…), not g:%s(…)", op, op, op);
    int value = value_at(L, 2, b, at, op, 2);
    Arena *a = spec_reader(L)->arena;
    spec_no_more(L, at, 2, arena_format(a, "g.%s takes a name and a value", op));
    const char *name = name_at(L, b, op, value, at);
    if (!strcmp(op, "output")) check_c_name(L, b->outputs, "output", name, at);
    GraphCall *c = add_call(L, b, op, at, 0);
    c->name = name;
    c->inputs[0] = value;
    c->input_count = 1;
    lua_settop(L, 2);
}

/* ---- operations ------------------------------------------------------------------------------------------ */

static int by_option(const void *a, const void *b)
{
    return strcmp(((const struct GraphOption *)a)->name, ((const struct GraphOption *)b)->name);
}

static struct GraphOption read_option(lua_State *L, const char *op, Loc at)
{
    struct GraphOption o = { NULL, 0, NULL, false };
    if (lua_type(L, -2) != LUA_TSTRING) spec_fail(L, at, "an option of g.%s needs a name", op);
    lua_pushvalue(L, -2);
    o.name = spec_text(L, -1, at, "an option's name");
    lua_pop(L, 1);
    if (!o.name) spec_fail(L, at, NULL);
    if (lua_type(L, -1) == LUA_TNUMBER) o.number = lua_tonumber(L, -1);
    else if ((o.boolean = lua_isboolean(L, -1))) o.number = lua_toboolean(L, -1);
    else if (lua_type(L, -1) != LUA_TSTRING)
        spec_fail(L, at, "option %s of g.%s must be a number, a string, true or false; found %s", o.name, op, spec_describe(L, -1));
    else if (!(o.word = spec_text(L, -1, at, o.name))) spec_fail(L, at, NULL);
    if (!isfinite(o.number)) spec_fail(L, at, "option %s of g.%s is not finite", o.name, op);
    return o;
}

/* Read the options in the table at `index`, and sort them by name. */
static void read_options(lua_State *L, int index, GraphCall *c)
{
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (c->option_count == MAX_OPTIONS) spec_fail(L, c->at, "g.%s has more than %d options", c->op, MAX_OPTIONS);
        c->options[c->option_count++] = read_option(L, c->op, c->at);
    }
    qsort(c->options, (size_t)c->option_count, sizeof *c->options, by_option);
}

static int operate_custom(lua_State *L, Builder *b, const CustomOp *op, Loc at)
{
    GraphCall c = { .op = op->name, .custom = op, .at = at };
    int n = lua_gettop(L), table = n && lua_istable(L, n) ? n-- : 0;
    if (n != op->input_count)
        spec_fail(L, at, "%s takes %d value%s, found %d", op->name, op->input_count, op->input_count == 1 ? "" : "s", n);
    for (int i = 0; i < n; i++) c.inputs[i] = value_at(L, i + 1, b, at, op->name, i + 1);
    c.input_count = n;
    spec_custom_call(L, b->spec, &c, table);
    if (!b->alive) spec_fail(L, at, "the shape function of %s must not end the builder", op->name);
    GraphCall *added = add_call(L, b, op->name, at, 1);
    c.first_result = added->first_result;
    c.results = 1;
    *added = c;
    push_value(L, b, c.first_result);
    return 1;
}

static int operate(lua_State *L, Builder *b, const OpName *op, Loc at)
{
    GraphCall c = { .op = op->name, .at = at };
    int n = lua_gettop(L);
    if (n && lua_istable(L, n)) read_options(L, n--, &c);
    if (n > MAX_INPUTS) spec_fail(L, at, "g.%s has %d arguments; at most %d are allowed", op->name, n, MAX_INPUTS);
    for (int i = 0; i < n; i++) c.inputs[i] = lua_isnil(L, i + 1) ? -1 : value_at(L, i + 1, b, at, op->name, i + 1);
    c.input_count = n;
    GraphCall *added = add_call(L, b, op->name, at, op->results);
    c.first_result = added->first_result;
    c.results = op->results;
    *added = c;
    luaL_checkstack(L, op->results, op->name);
    for (int i = 0; i < op->results; i++) push_value(L, b, c.first_result + i);
    return op->results;
}

/* ---- g --------------------------------------------------------------------------------------------------- */

/* A call of g.WORD. Upvalues: the builder, and the number of the word (spec_word_number). */
static int call_word(lua_State *L)
{
    SpecReader *r = spec_reader(L);
    Builder *b = builder_at(L, lua_upvalueindex(1));
    int n = (int)lua_tointeger(L, lua_upvalueindex(2));
    const CustomOp *custom = n < OWN_CALLS + r->op_count ? NULL : r->custom[n - OWN_CALLS - r->op_count];
    const char *word = custom ? custom->name : n < OWN_CALLS ? spec_own_calls[n] : r->ops[n - OWN_CALLS].name;
    Loc at = spec_call(L, word);
    if (!b->alive) spec_fail(L, at, "g.%s was called after the builder of \"%s\" had returned", word, b->graph);
    if (custom) return operate_custom(L, b, custom, at);
    if (n >= OWN_CALLS) return operate(L, b, &r->ops[n - OWN_CALLS], at);
    if (n < DECLARATIONS) declare(L, b, word, at);
    else give_name(L, b, word, at);
    return 1;
}

_Noreturn static void fail_unknown(lua_State *L, const char *word)
{
    SpecReader *r = spec_reader(L);
    const int count = OWN_CALLS + r->op_count + r->custom_count;
    const char **words = arena_array(r->arena, (size_t)count, sizeof *words);
    for (int i = 0; i < OWN_CALLS; i++) words[i] = spec_own_calls[i];
    for (int i = 0; i < r->op_count; i++) words[OWN_CALLS + i] = r->ops[i].name;
    for (int i = 0; i < r->custom_count; i++) words[OWN_CALLS + r->op_count + i] = r->custom[i]->name;
    const char *near = diag_nearest(word, words, count);
    Loc at = spec_call(L, word);
    if (near) spec_fail(L, at, "unknown operation g.%s; did you mean g.%s?", word, near);
    spec_fail(L, at, "unknown operation g.%s", word);
}

static int index_builder(lua_State *L)
{
    const SpecReader *r = spec_reader(L);
    size_t size;
    const char *word = luaL_checklstring(L, 2, &size);
    if (strlen(word) != size) spec_fail(L, spec_call(L, ""), "an operation name contains a zero byte");
    const int found = spec_word_number(r, word);
    if (found < 0) fail_unknown(L, word);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, found);
    lua_pushcclosure(L, call_word, 2);
    return 1;
}

static void make_types(lua_State *L)
{
    if (luaL_newmetatable(L, builder_type)) {
        lua_pushcfunction(L, index_builder);
        lua_setfield(L, -2, "__index");
    }
    luaL_newmetatable(L, value_type);
    lua_pop(L, 2);
}

static Builder *push_builder(lua_State *L, const char *name)
{
    Arena *a = spec_reader(L)->arena;
    Builder **p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = arena_alloc(a, sizeof **p);
    **p = (Builder){ .alive = true, .graph = name, .spec = arena_alloc(a, sizeof(GraphSpec)), .named = name_map_new(a),
                     .inputs = name_map_new(a), .outputs = name_map_new(a) };
    luaL_setmetatable(L, builder_type);
    return *p;
}

static bool has_output(const GraphSpec *s)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->calls[i].op, "output")) return true;
    return false;
}

/* xf.graph(name, function(g) … end [, { weights =, seed =, dtype =, kv_dtype = }]) */
int spec_graph(lua_State *L)
{
    SpecReader *r = spec_reader(L);
    Loc at = spec_call(L, "graph");
    const char *name = spec_text(L, 1, at, "the name of xf.graph");
    if (!name) spec_fail(L, at, NULL);
    if (!lua_isfunction(L, 2)) spec_fail(L, at, "argument 2 of xf.graph must be a function, found %s", spec_describe(L, 2));
    if (!lua_isnoneornil(L, 3) && !lua_istable(L, 3))
        spec_fail(L, at, "the options of xf.graph must be a table, found %s", spec_describe(L, 3));
    spec_no_more(L, at, 3, "xf.graph takes a name, a function and a table of options");
    if (lua_istable(L, 3) && lua_getfield(L, 3, "name") != LUA_TNIL)
        spec_fail(L, at, "the name of xf.graph is its first argument, not an option");
    make_types(L);
    lua_settop(L, 3);
    lua_pushvalue(L, 2);
    Builder *b = push_builder(L, name);
    lua_call(L, 1, 0);
    b->alive = false;
    if (!has_output(b->spec)) spec_fail(L, at, "the graph \"%s\" has no output; add one with g.output(name, value)", name);
    Draft *d = spec_new_draft(L, at);
    d->graph = b->spec;
    d->choices[SIDE_BOTH][FIELD_ID_name] = (Choice){ at, 1, arena_alloc(r->arena, sizeof(FieldValue)) };
    d->choices[SIDE_BOTH][FIELD_ID_name].values->text = name;
    if (lua_istable(L, 3)) spec_read_fields(L, 3, d, at, "graph");
    spec_push(L, d);
    return 1;
}
