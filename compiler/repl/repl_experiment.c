/* repl_experiment.c: change a compiled model: probes, the C of one function, single weight tensors.
 * The state and all else stay as they are. */
#include "repl.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "jit.h"
#include "pack.h"

static void need_jit(lua_State *L, const ReplModel *m)
{
    if (m->kind != ENGINE_JIT) luaL_error(L, "the model runs on the %s engine; this needs the jit, the default engine", engine_name(m->kind));
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

/* m:probe("name", function(tensor, step) … end): call the function whenever the tensor is computed;
 * a value that it returns replaces the tensor. m:probe("name"): remove the probe. */
static int probe(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const char *name = luaL_checkstring(L, 2);
    need_jit(L, m);
    const Plan *p = repl_tapped(L, m)->plan;
    const char **names = arena_array(m->session->arena, (size_t)p->tap_count + 1, sizeof *names);
    bool found = false;
    for (int i = 0; i < p->tap_count; i++) found |= strcmp(names[i] = p->taps[i].name, name) == 0;
    if (!found) {
        const char *near = diag_nearest(name, names, p->tap_count);
        return luaL_error(L, "%s computes no tensor '%s'%s", m->session->model->name, name, repl_near(L, m, name, near));
    }
    if (!lua_isnoneornil(L, 3)) luaL_checktype(L, 3, LUA_TFUNCTION);
    lua_settop(L, 3);
    repl_push_probes(L, m);
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, name);
    lua_pushnil(L);
    m->probed = lua_next(L, 4) != 0;
    repl_close_tapped(m);
    return 0;
}

/* ---- the C of a function ----------------------------------------------------------------------------------------- */

static const char *function_of(lua_State *L, const char *text, const char **begin, const char **end)
{
    const char *name = luaL_checkstring(L, 2);
    if (!*name || !repl_find_function(text, name, begin, end)) luaL_error(L, "there is no function '%s'; :code lists the functions of blocks", name);
    return name;
}

/* m:code("argmax"): push the C of one function, as it runs. */
static int code(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const char *begin, *end;
    need_jit(L, m);
    function_of(L, jit_text(repl_tier_jit(m)), &begin, &end);
    lua_pushlstring(L, begin, (size_t)(end - begin));
    return 1;
}

static bool replace(ReplModel *m, Engine *e, const char *function, const char *text)
{
    Arena *a = m->session->arena;
    const char *whole = repl_replaced(m, a, jit_text(e), function, text);
    return whole && jit_recompile(a, m->session->diag, e, whole);
}

/* True if the text is one function and nothing else, so that a new edit of the function replaces
 * all of it. */
static bool is_alone(const char *text, const char *function)
{
    const char *begin, *end;
    return repl_find_function(text, function, &begin, &end) && begin == text && !end[strspn(end, " \t\r\n")];
}

/* Add an edit, and drop the earlier ones that it replaces entirely. */
static void remember_edit(ReplModel *m, const char *function, const char *text)
{
    for (struct ReplEdit **e = &m->edits; *e;) {
        struct ReplEdit *old = *e;
        if (strcmp(old->function, function) == 0 && is_alone(old->text, function)) {
            *e = old->before;
            repl_free_edit(old);
        } else e = &old->before;
    }
    struct ReplEdit *kept = malloc(sizeof *kept);
    if (!kept) no_memory("the C of an experiment");
    *kept = (struct ReplEdit){ strdup(function), strdup(text), m->edits };
    if (!kept->function || !kept->text) no_memory("%zu bytes of C", strlen(text));
    m->edits = kept;
}

/* m:edit("argmax", text): compile the text in place of the function. A Lua function that turns the
 * old text into the new one may be given instead of the text. */
static int edit(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const char *begin, *end;
    need_jit(L, m);
    const char *function = function_of(L, jit_text(repl_tier_jit(m)), &begin, &end);
    if (lua_isfunction(L, 3)) {
        lua_settop(L, 3);
        lua_pushlstring(L, begin, (size_t)(end - begin));
        m->running = true;
        const int status = lua_pcall(L, 1, 1, 0);
        m->running = false;
        if (status != LUA_OK) return lua_error(L);
    }
    if (lua_type(L, 3) != LUA_TSTRING)
        return luaL_error(L, "m:edit takes new C code for '%s', or a function that maps the old code to the new", function);
    if (m->brief) repl_close_tapped(m);
    repl_tier_pin(m);    /* a changed model has its own C and weights, and stays on the jit */
    Arena *a = m->session->arena;
    const char *text = lua_tostring(L, 3), *before = arena_text(a, jit_text(m->engine));
    if (!m->original) m->original = arena_text(m->memory.home, before);
    if (!replace(m, m->engine, function, text)) return repl_model_fail(L, m);
    if (m->tapped && !replace(m, m->tapped, function, text)) {
        jit_recompile(a, diag_new(a), m->engine, before);       /* change both engines or neither */
        return repl_model_fail(L, m);
    }
    remember_edit(m, function, text);
    m->traced = false;
    return 0;
}

/* ---- single tensors ---------------------------------------------------------------------------------------------- */

/* Set shape to that of the tensor in the spec; returns the rank. */
static int shape_of(const ReplModel *m, const PackedTensor *t, const char *name, int64_t shape[2])
{
    const TensorSource *s = model_tensor(m->session->model, name);
    const bool row = s ? s->rank == 1 : t->packed->tensor[t->part]->rank == 1;
    shape[0] = row ? t->columns : t->rows;
    shape[1] = t->columns;
    return row ? 1 : 2;
}

/* m:weight("encoder.0.ffn.up.weight"): push the tensor now in use, in the spec's shape. */
static int weight(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    need_jit(L, m);
    int n;
    int64_t shape[2];
    const char *name = luaL_checkstring(L, 2);
    const PackedTensor *t = repl_packed(L, m, m->engine, name, &n);
    const int rank = shape_of(m, t, name, shape);
    float *values = arena_array(repl_scratch(L), (size_t)(t->rows * t->columns), sizeof *values);
    pack_get(jit_weights(m->engine), t, values);
    repl_push_tensor(L, name, rank, shape, values);
    return 1;
}

static int weights(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const Model *model = m->session->model;
    int n = 0, places;
    Arena *a = repl_scratch(L);
    lua_newtable(L);
    for (int i = 0; i < model->tensor_count; i++)
        if (pack_find(a, m->engine->plan, model->tensors[i].name, &places)) {
            lua_pushstring(L, model->tensors[i].name);
            lua_rawseti(L, -2, ++n);
        }
    return 1;
}

/* m:set("name", tensor): replace one weight tensor, in this model only. The numbers have the spec's
 * shape. */
static int set(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    int n;
    int64_t shape[2];
    need_jit(L, m);
    lua_settop(L, 3);
    const char *name = luaL_checkstring(L, 2);
    const PackedTensor *t = repl_packed(L, m, m->engine, name, &n);
    const int rank = shape_of(m, t, name, shape);
    const float *values = repl_shaped(L, 3, repl_scratch(L), name, rank, shape);
    if (m->brief) repl_close_tapped(m);
    repl_tier_pin(m);
    repl_put(L, m, m->engine, name, values);
    if (m->tapped) repl_put(L, m, m->tapped, name, values);
    m->traced = false;
    return 0;
}

/* m:restore(): undo all changes to weights and C and remove the probes; native code that was
 * requested before is requested again. */
static int restore(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    Session *s = m->session;
    need_jit(L, m);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, m);
    m->probed = false;
    repl_close_tapped(m);
    if (m->edits && !jit_recompile(s->arena, s->diag, m->engine, m->original)) return repl_model_fail(L, m);
    repl_forget_edits(m);
    if (jit_has_own_weights(repl_tier_jit(m))) jit_shared_weights(m->engine);
    if (!m->pinned) return 0;
    m->pinned = m->reported = false;
    repl_tier_begin(L, m, NULL);
    return 0;
}

/* m:heads("encoder.0.self_attn"): push its number of heads. */
static int heads(lua_State *L)
{
    const Model *m = repl_check_model(L)->session->model;
    const char *name = luaL_checkstring(L, 2);
    char stack[8], part[16], rest;
    int layer;
    const bool named = !m->graph && sscanf(name, "%7[a-z].%d.%15[a-z_]%c", stack, &layer, part, &rest) == 3;
    const bool encoder = named && strcmp(stack, "encoder") == 0 && m->has_encoder, decoder = named && strcmp(stack, "decoder") == 0 && m->has_decoder;
    const Stack *s = encoder ? &m->encoder : decoder ? &m->decoder : NULL;
    const bool attends = named && (strcmp(part, "self_attn") == 0 || (decoder && m->has_encoder && strcmp(part, "cross_attn") == 0));
    if (!s || !attends || layer < 0 || layer >= s->layers) return luaL_error(L, "%s has no attention '%s'", m->name, name);
    lua_pushinteger(L, s->layer[layer].heads);
    return 1;
}

void repl_add_experiments(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "probe", probe, "name text, function function?" }, { "code", code, "function text" },
        { "edit", edit, "function text, new any" }, { "weight", weight, "name text" },
        { "weights", weights, "" }, { "set", set, "name text, numbers numbers" },
        { "restore", restore, "" }, { "heads", heads, "block text" },
        { NULL, NULL, NULL }
    };
    repl_set_functions(L, "m:", methods);
}
