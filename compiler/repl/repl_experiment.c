/* repl_experiment.c: changing a model that is compiled: probes, the C of one function, single tensors. State and weights stay. */
#include "repl.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "jit.h"
#include "pack.h"

/* In the registry, by a key of ours: by model (its address) a table of { tensor name = function }, and what a probe raised. */
static const char error_key;

static void need_jit(lua_State *L, const ReplModel *m)
{
    if (strcmp(m->choices.engine, "jit") != 0) luaL_error(L, "the model runs on the %s engine; this needs { engine = \"jit\" }", m->choices.engine);
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

/* The table of a model's probes, pushed; made when need be. */
static void push_probes(lua_State *L, const ReplModel *m)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, m) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, m);
}

typedef struct Seen { Engine *engine; const JitAt *at; const Buffer *buffer; const char *name; int layer_index; } Seen;

/* Protected: 1 is the probe, 2 a Seen. What the probe returns takes the tensor's place. */
static int call_probe(lua_State *L)
{
    const Seen *s = lua_touserdata(L, 2);
    const Tensor *t = s->buffer->tensor;
    int64_t shape[4] = { 0 }, n = 1, wanted;
    for (int r = 0; r < t->rank; r++) n *= shape[r] = jit_length(s->at, t->dim[r]);
    lua_settop(L, 1);
    Arena *a = repl_scratch(L);
    float *values = arena_array(a, (size_t)n, sizeof *values);
    engine_read(s->engine, s->buffer, s->layer_index, shape[t->rank - 2], shape[t->rank - 1], values);
    lua_pushvalue(L, 1);
    repl_push_tensor(L, s->name, t->rank, shape, values);
    lua_pushinteger(L, s->at->target);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) return 0;
    const float *changed = repl_numbers(L, -1, a, &wanted);
    if (wanted != n) return luaL_error(L, "the probe of %s returned %d numbers in the place of %d", s->name, (int)wanted, (int)n);
    /* A tap is a copy; what goes on is the original. Weights and scores of an attention stay inside its kernel. */
    const PlanOp *op = s->at->op;
    if (op->kernel != KERNEL_ACTIVATION || op->activation != RT_IDENTITY || op->in[0]->layout != LAYOUT_ROWS)
        return luaL_error(L, "%s cannot be changed: nothing reads it but its tap", s->name);
    engine_write(s->engine, s->buffer, s->layer_index, shape[t->rank - 2], shape[t->rank - 1], changed);
    engine_write(s->engine, op->in[0], 0, shape[t->rank - 2], shape[t->rank - 1], changed);
    return 0;
}

/* The tensor that lies in `b` for a layer, by name; NULL where it is no tap. */
static const Tap *tap_of(const Plan *p, const Buffer *b, int layer)
{
    for (int i = 0; i < p->tap_count; i++)
        if (p->taps[i].buffer == b && p->taps[i].layer_index == layer) return &p->taps[i];
    return NULL;
}

static void watch(void *user, Engine *e, const JitAt *at)
{
    ReplModel *m = user;
    lua_State *L = m->L;
    const int top = lua_gettop(L);
    if (!lua_checkstack(L, 16)) return;
    lua_pushlightuserdata(L, e);
    lua_rawget(L, LUA_REGISTRYINDEX);           /* engine -> probes */
    for (int i = 0; i < 3 && lua_istable(L, top + 1); i++) {
        const Buffer *b = at->op->out[i];
        const Tap *t = b ? tap_of(e->plan, b, b->layers ? at->layer : 0) : NULL;
        if (!t || lua_getfield(L, top + 1, t->name) != LUA_TFUNCTION) continue;
        Seen seen = { e, at, b, t->name, t->layer_index };
        lua_pushvalue(L, -1);
        lua_pushcfunction(L, call_probe);
        lua_insert(L, -2);
        lua_pushlightuserdata(L, &seen);
        m->running = true;
        const int status = lua_pcall(L, 2, 0, 0);
        m->running = false;
        if (status != LUA_OK) {
            if (lua_isnil(L, -1)) {
                lua_pop(L, 1);
                lua_pushfstring(L, "the probe of %s failed", t->name);
            }
            lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
            jit_stop();
        }
    }
    lua_settop(L, top);
}

void repl_forget_engine(ReplModel *m)
{
    lua_pushnil(m->L);
    lua_rawsetp(m->L, LUA_REGISTRYINDEX, m->tapped);
}

void repl_forget_probes(ReplModel *m)
{
    if (m->tapped) repl_forget_engine(m);
    lua_pushnil(m->L);
    lua_rawsetp(m->L, LUA_REGISTRYINDEX, m);
}

void repl_check_probes(lua_State *L, ReplModel *m)
{
    (void)m;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key) == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
    jit_go_on();
    lua_error(L);
}

/* m:probe("name", function(tensor, step) … end): called whenever the tensor is computed; what it returns takes its place.
 * m:probe("name"): no more. */
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
        return luaL_error(L, "%s has no tensor '%s'%s", m->session->model->name, name, repl_near(L, m, name, near));
    }
    if (!lua_isnoneornil(L, 3)) luaL_checktype(L, 3, LUA_TFUNCTION);
    lua_settop(L, 3);
    push_probes(L, m);
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
    if (!*name || !repl_find_function(text, name, begin, end)) luaL_error(L, "there is no function '%s'; :code lists them", name);
    return name;
}

/* m:code("likeliest"): the C of one function, as it runs. */
static int code(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const char *begin, *end;
    need_jit(L, m);
    function_of(L, jit_text(repl_tier_jit(m)), &begin, &end);
    lua_pushlstring(L, begin, (size_t)(end - begin));
    return 1;
}

/* A function of a whole C text replaced, in the arena; NULL after an error told. */
static const char *replaced(ReplModel *m, Arena *a, const char *old, const char *function, const char *text)
{
    const char *begin, *end;
    if (repl_find_function(old, function, &begin, &end)) return arena_format(a, "%.*s%s\n%s", (int)(begin - old), old, text, end);
    diag_error(m->session->diag, EXIT_BAD_DATA, (Loc){ 0 }, "there is no function '%s' any more", function);
    return NULL;
}

static bool replace(ReplModel *m, Engine *e, const char *function, const char *text)
{
    Arena *a = m->session->arena;
    const char *whole = replaced(m, a, jit_text(e), function, text);
    return whole && jit_recompile(a, m->session->diag, e, whole);
}

static void free_edit(struct ReplEdit *e)
{
    free((char *)(uintptr_t)e->function);
    free((char *)(uintptr_t)e->text);
    free(e);
}

void repl_forget_edits(ReplModel *m)
{
    for (struct ReplEdit *e = m->edits, *before; e; e = before) {
        before = e->before;
        free_edit(e);
    }
    m->edits = NULL;
}

/* Whether a text is one function and nothing else, so that another edit of it leaves nothing of it. */
static bool is_alone(const char *text, const char *function)
{
    const char *begin, *end;
    return repl_find_function(text, function, &begin, &end) && begin == text && !end[strspn(end, " \t\r\n")];
}

/* One more edit; what it replaces as a whole is forgotten. */
static void remember_edit(ReplModel *m, const char *function, const char *text)
{
    for (struct ReplEdit **e = &m->edits; *e;) {
        struct ReplEdit *old = *e;
        if (strcmp(old->function, function) == 0 && is_alone(old->text, function)) {
            *e = old->before;
            free_edit(old);
        } else e = &old->before;
    }
    struct ReplEdit *kept = malloc(sizeof *kept);
    if (!kept) die("no memory for C");
    *kept = (struct ReplEdit){ strdup(function), strdup(text), m->edits };
    if (!kept->function || !kept->text) die("no memory for C");
    m->edits = kept;
}

/* m:edit("likeliest", text), or a function from the old text to the new: compiled in the place of the old one. */
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
    if (lua_type(L, 3) != LUA_TSTRING) return luaL_error(L, "m:edit takes the new C of '%s', or a function from the old to the new", function);
    if (m->brief) repl_close_tapped(m);
    repl_tier_pin(m);                   /* what is changed stays on the jit: its C and its weights are its own */
    Arena *a = m->session->arena;
    const char *text = lua_tostring(L, 3), *before = arena_text(a, jit_text(m->engine));
    if (!m->original) m->original = arena_text(m->memory.home, before);
    if (!replace(m, m->engine, function, text)) return repl_model_fail(L, m);
    if (m->tapped && !replace(m, m->tapped, function, text)) {
        jit_recompile(a, diag_new(a), m->engine, before);       /* both, or none */
        return repl_model_fail(L, m);
    }
    remember_edit(m, function, text);
    m->traced = false;
    return 0;
}

/* A whole C text with all edits, in the order in which they were made; NULL after an error told. */
static const char *with_edits(ReplModel *m, Arena *a, const char *whole, const struct ReplEdit *e)
{
    if (e->before) whole = with_edits(m, a, whole, e->before);
    return whole ? replaced(m, a, whole, e->function, e->text) : NULL;
}

/* The same C in the engine with taps, compiled once. */
static bool edit_tapped(ReplModel *m)
{
    if (!m->edits) return true;
    const char *whole = with_edits(m, m->session->arena, jit_text(m->tapped), m->edits);
    return whole && jit_recompile(m->session->arena, m->session->diag, m->tapped, whole);
}

/* ---- single tensors ---------------------------------------------------------------------------------------------- */

static PackedTensor *packed(lua_State *L, const ReplModel *m, const Engine *e, const char *name, int *n)
{
    Arena *a = m->session->arena;
    const Model *model = m->session->model;
    PackedTensor *t = pack_find(a, e->plan, name, n);
    if (t) return t;
    const char **names = arena_array(a, (size_t)model->tensor_count + 1, sizeof *names);
    for (int i = 0; i < model->tensor_count; i++) names[i] = model->tensors[i].name;
    const char *near = diag_nearest(name, names, model->tensor_count);
    luaL_error(L, "%s has no weights '%s'%s; m:weights() lists them", model->name, name, repl_near(L, m, name, near));
    return NULL;
}

/* The shape that the spec gives it. */
static int shape_of(const ReplModel *m, const PackedTensor *t, const char *name, int64_t shape[2])
{
    const TensorSource *s = model_tensor(m->session->model, name);
    const bool row = s ? s->rank == 1 : t->packed->tensor[t->part]->rank == 1;
    shape[0] = row ? t->columns : t->rows;
    shape[1] = t->columns;
    return row ? 1 : 2;
}

/* m:weight("encoder.0.ffn.up.weight"): the tensor that is used now, in the shape that the spec gives it. */
static int weight(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    need_jit(L, m);
    int n;
    int64_t shape[2];
    const char *name = luaL_checkstring(L, 2);
    const PackedTensor *t = packed(L, m, m->engine, name, &n);
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

/* Wherever an engine has it. */
static void put(lua_State *L, ReplModel *m, Engine *e, const char *name, const float *values)
{
    const int top = lua_gettop(L);
    int n;
    const PackedTensor *t = packed(L, m, e, name, &n);
    for (int i = 0; i < n; i++) pack_put(jit_own_weights(e), &t[i], values);
    lua_settop(L, top);
}

/* m:set("name", tensor): other numbers for one tensor of weights, in this model alone, in the shape that the spec gives it. */
static int set(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    int n;
    int64_t shape[2];
    need_jit(L, m);
    lua_settop(L, 3);
    const char *name = luaL_checkstring(L, 2);
    const PackedTensor *t = packed(L, m, m->engine, name, &n);
    const int rank = shape_of(m, t, name, shape);
    const float *values = repl_shaped(L, 3, repl_scratch(L), name, rank, shape);
    if (m->brief) repl_close_tapped(m);
    repl_tier_pin(m);
    put(L, m, m->engine, name, values);
    if (m->tapped) put(L, m, m->tapped, name, values);
    m->traced = false;
    return 0;
}

/* m:restore(): the spec again, its weights and its C, and no probes; what was on the way to native code goes there. */
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
    m->pinned = m->told = false;
    repl_tier_begin(L, m, NULL);
    return 0;
}

/* "C of likeliest, probes" */
static const char *describe_edits(const ReplModel *m, Arena *a)
{
    Text t = text_new(a);
    for (const struct ReplEdit *e = m->edits; e; e = e->before) text_printf(&t, "%s%s", t.size ? ", " : "C of ", e->function);
    if (m->probed) text_printf(&t, "%sprobes", t.size ? ", " : "");
    return t.data;
}

const char *repl_share_changes(lua_State *L, const ReplModel *m, Engine *generic)
{
    Arena *a = m->session->arena;
    const Model *model = m->session->model;
    if (strcmp(m->choices.engine, "jit") == 0 && jit_has_own_weights(repl_tier_jit(m)))
        for (int i = 0; i < model->tensor_count; i++) {
            int n;
            const char *name = model->tensors[i].name;
            const PackedTensor *t = pack_find(a, m->engine->plan, name, &n);
            if (!t) continue;
            float *values = arena_array(repl_scratch(L), (size_t)(t->rows * t->columns), sizeof *values);
            pack_get(jit_weights(m->engine), t, values);
            generic_set_weight(generic, name, values);
            lua_pop(L, 1);
        }
    return m->edits || m->probed ? describe_edits(m, a) : NULL;
}

const char *repl_changes(const ReplModel *m)
{
    Arena *a = m->session->arena;
    const bool weights = strcmp(m->choices.engine, "jit") == 0 && jit_has_own_weights(repl_tier_jit(m));
    const char *edits = m->edits || m->probed ? describe_edits(m, a) : "";
    return weights ? arena_format(a, "%sweights", *edits ? arena_format(a, "%s, ", edits) : "") : edits;
}

/* m:heads("encoder.0.self_attn"): how many heads it has. */
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

bool repl_is_changed(const ReplModel *m)
{
    return m->edits || (strcmp(m->choices.engine, "jit") == 0 && jit_has_own_weights(repl_tier_jit(m)));
}

/* A new engine with taps gets the probes, and every tensor as the other engine has it. */
void repl_renew_experiments(lua_State *L, ReplModel *m)
{
    if (strcmp(m->choices.engine, "jit") != 0) return;
    if (m->probed) {
        push_probes(L, m);
        lua_rawsetp(L, LUA_REGISTRYINDEX, m->tapped);
        jit_watch(m->tapped, (JitWatch){ watch, m });
    }
    if (!edit_tapped(m)) {
        repl_close_tapped(m);
        repl_model_fail(L, m);
    }
    const Model *model = m->session->model;
    Arena *a = m->session->arena;
    if (!jit_has_own_weights(repl_tier_jit(m))) return;
    for (int i = 0; i < model->tensor_count; i++) {
        const char *name = model->tensors[i].name;
        int n;
        const PackedTensor *from = pack_find(a, m->engine->plan, name, &n);
        if (!from) continue;
        float *values = arena_array(a, (size_t)(from->rows * from->columns), sizeof *values);
        pack_get(jit_weights(m->engine), from, values);
        put(L, m, m->tapped, name, values);
    }
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
