/* repl_xf.c: the table `xf` at the prompt: xf.model, xf.graph and xf.op, as in specs, and functions
 * of the prompt. */
#include "front.h"
#include "repl.h"
#include "weights.h"

#include <string.h>


/* xf.spec("path"), xf.spec("path", { weights = "FILE" }): read a spec as a value that can be called
 * with changes. The option replaces the spec's weights file, as --from does. */
static int read_spec(lua_State *L)
{
    static const char *const names[] = { "weights" };
    Repl *r = repl_of(L);
    Diag *d = diag_new(r->reader.arena);
    int n;
    const OpName *ops = graph_builder_ops(&n);
    repl_check_keys(L, 2, "xf.spec", names, 1);
    Draft *draft = draft_read(r->reader.arena, d, luaL_checkstring(L, 1), ops, n, r->options->allow_c ? graph_value_shape : NULL);
    repl_raise(L, d);
    if (!draft) return luaL_error(L, "the spec cannot be read");
    if (repl_option(L, 2, "weights"))
        draft->weights = arena_text(r->reader.arena, repl_text_option(L, "weights"));
    spec_push(L, draft);
    return 1;
}

static int count_calls(const GraphSpec *g, const char *op)
{
    int n = 0;
    for (int i = 0; i < g->count; i++) n += strcmp(g->calls[i].op, op) == 0;
    return n;
}

/* "spec dates: layers 2, heads 4, d_model 64 (specs/dates.lua)": the sizes that the spec sets; of a
 * list, the first value. For a graph, the numbers of its inputs, params and outputs. */
static int describe_spec(lua_State *L)
{
    static const struct { FieldId id; const char *name; } sizes[] = {
        { FIELD_ID_layers, "layers" }, { FIELD_ID_heads, "heads" }, { FIELD_ID_d_model, "d_model" }, { FIELD_ID_d_ff, "d_ff" },
    };
    const Draft *d = spec_at(L, 1);
    const Choice *name = d ? draft_choice(d, SIDE_BOTH, FIELD_ID_name) : NULL;
    luaL_argcheck(L, d, 1, "expected a spec");
    Text t = text_new(repl_scratch(L));
    text_printf(&t, "%s %s", d->graph ? "graph" : "spec", name ? name->values->text : "without a name");
    if (d->graph) text_printf(&t, ": inputs %d, params %d, outputs %d", count_calls(d->graph, "input"), count_calls(d->graph, "param"),
                              count_calls(d->graph, "output"));
    for (size_t i = 0, n = 0; !d->graph && i < sizeof sizes / sizeof *sizes; i++) {
        const Choice *c = draft_choice(d, SIDE_BOTH, sizes[i].id);
        if (c) text_printf(&t, "%s %s %lld%s", n++ ? "," : ":", sizes[i].name, (long long)c->values->integer, c->count > 1 ? ", …" : "");
    }
    text_printf(&t, " (%s)", d->path);
    lua_pushstring(L, t.data);
    return 1;
}

static int compile(lua_State *L)
{
    luaL_checkany(L, 1);
    repl_compile(L, 1, lua_isnoneornil(L, 2) ? 0 : 2);
    return 1;
}

static int last(lua_State *L)
{
    repl_push_last(L);
    return 1;
}

/* xf.tensor({…}), xf.tensor({{…}, {…}}), xf.tensor({…}, {rows, columns}) */
static int make_tensor(lua_State *L)
{
    int64_t rank, elements = 1;
    bool fit = true;
    lua_settop(L, 2);
    Arena *a = repl_scratch(L);
    ReplTensor t = repl_values(L, 1, a);
    const int64_t n = repl_tensor_elements(&t);
    if (!lua_isnoneornil(L, 2)) {
        const float *sizes = repl_numbers(L, 2, a, &rank);
        if (rank < 1 || rank > 4) return luaL_error(L, "xf.tensor: expected 1 to 4 sizes, found %d", (int)rank);
        t.rank = (int)rank;
        for (int i = 0; i < rank; i++) {
            if (!(sizes[i] >= 1 && sizes[i] <= 1e9f && sizes[i] == (float)(int64_t)sizes[i]))
                return luaL_error(L, "xf.tensor: a size must be a whole number, at least 1");
            t.shape[i] = (int64_t)sizes[i];
            fit = fit && !__builtin_mul_overflow(elements, t.shape[i], &elements);
        }
        if (!fit || elements != n)
            return luaL_error(L, "xf.tensor: the sizes do not match the %d number%s", (int)n, n == 1 ? "" : "s");
    }
    repl_push_tensor(L, "tensor", t.rank, t.shape, t.values);
    return 1;
}

/* xf.load("file.safetensors", "name"): push that tensor; without a name, a table by name of all
 * tensors of floats or I8. */
static int load(lua_State *L)
{
    lua_settop(L, 2);
    Arena *a = repl_scratch(L);
    Diag *d = diag_new(a);
    const char *path = luaL_checkstring(L, 1), *name = luaL_optstring(L, 2, NULL);
    TensorFile *f = safetensors_open(a, d, (Loc){ 0 }, path);
    repl_raise(L, d);
    if (!name) lua_newtable(L);
    bool found = !name;
    for (int i = 0; i < f->count; i++) {
        const TensorSource *t = &f->tensors[i];
        if (name && strcmp(name, t->name) != 0) continue;
        if (!dtype_is_float(t->dtype) && t->dtype != DTYPE_I8) {
            if (name) luaL_error(L, "%s: tensor '%s' has dtype %s, expected floating-point numbers or I8", path, name, dtype_name(t->dtype));
            continue;
        }
        float *values = arena_array(a, (size_t)tensor_elements(t) + 1, sizeof *values);
        tensor_read(t, values);
        repl_push_tensor(L, t->name, t->rank, t->shape, values);
        found = true;
        if (!name) lua_setfield(L, -2, t->name);
    }
    tensor_file_close(f);
    return found ? 1 : luaL_error(L, "%s has no tensor '%s'", path, name);
}

/* Call a reader function, upvalue 1, and raise the errors that it collected as a string. Each call
 * has the limits of a spec. */
static int strictly(lua_State *L)
{
    Repl *r = repl_of(L);
    SpecReader *s = &r->reader;
    const int n = lua_gettop(L);
    s->specs = s->calls = 0;
    s->numbers = 0;
    s->sandbox = (Sandbox){ .used = 0 };
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    const bool good = lua_pcall(L, n, 1, 0) == LUA_OK;
    if (good || spec_is_told(L, -1)) repl_raise(L, s->diag);
    diag_forget(s->diag);
    return good ? 1 : lua_error(L);
}

static void make_strict(lua_State *L, const char *name)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, strictly, 1);
    lua_setfield(L, -2, name);
}

void repl_open_xf(lua_State *L)
{
    static const ReplFunction functions[] = {
        { "spec", read_spec, "file text, options table?" },
        { "compile", compile, "spec any, options any?" }, { "last", last, "" },
        { "tensor", make_tensor, "numbers numbers, sizes numbers?" },
        { "load", load, "file text, name text?" }, { NULL, NULL, NULL }
    };
    spec_open(L);
    repl_set_functions(L, "xf.", functions);
    luaL_getmetatable(L, "xf.spec");
    make_strict(L, "__call");                   /* spec{…} */
    lua_pushcfunction(L, describe_spec);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
    make_strict(L, "model");
    make_strict(L, "graph");
    make_strict(L, "op");
    lua_pushnil(L);
    lua_setmetatable(L, -2);
    lua_setglobal(L, "xf");
}
