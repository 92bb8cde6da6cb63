/* repl_changes.c: how a compiled model differs from its spec: probes, edits of C, and changed
 * weights. All three are applied to engines and described here; probes and edits are also
 * forgotten here. */
#include "repl.h"

#include <stdlib.h>
#include <string.h>

#include "jit.h"
#include "pack.h"

/* The registry holds, under the address of a model, its probes { tensor name = function }; under
 * the address of its engine with taps, the same table; under this key, the error that a probe
 * raised. */
static const char error_key;

void repl_push_probes(lua_State *L, const ReplModel *m)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, m) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, m);
}

typedef struct Seen { Engine *engine; const JitAt *at; const Buffer *buffer; const char *name; int layer_index; } Seen;

/* Runs in a protected call: stack place 1 has the probe, 2 a Seen. A value that the probe returns
 * replaces the tensor. */
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
    if (wanted != n)
        return luaL_error(L, "the probe of %s returned %d number%s, expected %d", s->name,
                          (int)wanted, wanted == 1 ? "" : "s", (int)n);
    /* A tap is a copy; later operations read the original, which must change too. The weights and
     * scores of an attention exist only inside its kernel. */
    const PlanOp *op = s->at->op;
    if (op->kernel != KERNEL_ACTIVATION || op->activation != RT_IDENTITY || op->in[0]->layout != LAYOUT_ROWS)
        return luaL_error(L, "%s cannot be changed by a probe", s->name);
    engine_write(s->engine, s->buffer, s->layer_index, shape[t->rank - 2], shape[t->rank - 1], changed);
    engine_write(s->engine, op->in[0], 0, shape[t->rank - 2], shape[t->rank - 1], changed);
    return 0;
}

/* The tap whose tensor is in `b` for a layer; NULL if there is none. */
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

/* Remove the probes of the engine with taps from the registry, before the engine is closed. */
static void forget_engine(ReplModel *m)
{
    lua_pushnil(m->L);
    lua_rawsetp(m->L, LUA_REGISTRYINDEX, m->tapped);
}

void repl_forget_probes(ReplModel *m)
{
    if (m->tapped) forget_engine(m);
    lua_pushnil(m->L);
    lua_rawsetp(m->L, LUA_REGISTRYINDEX, m);
}

void repl_check_probes(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key) == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
    jit_go_on();
    lua_error(L);
}

const char *repl_replaced(ReplModel *m, Arena *a, const char *old, const char *function, const char *text)
{
    const char *begin, *end;
    if (repl_find_function(old, function, &begin, &end)) return arena_format(a, "%.*s%s\n%s", (int)(begin - old), old, text, end);
    diag_error(m->session->diag, EXIT_BAD_DATA, (Loc){ 0 }, "the function '%s' no longer exists", function);
    return NULL;
}

void repl_free_edit(struct ReplEdit *e)
{
    free((char *)(uintptr_t)e->function);
    free((char *)(uintptr_t)e->text);
    free(e);
}

void repl_forget_edits(ReplModel *m)
{
    for (struct ReplEdit *e = m->edits, *before; e; e = before) {
        before = e->before;
        repl_free_edit(e);
    }
    m->edits = NULL;
}

/* Apply all edits to a whole C text, oldest first; NULL after a reported error. */
static const char *with_edits(ReplModel *m, Arena *a, const char *whole, const struct ReplEdit *e)
{
    if (e->before) whole = with_edits(m, a, whole, e->before);
    return whole ? repl_replaced(m, a, whole, e->function, e->text) : NULL;
}

/* Apply all edits to the engine with taps, in one compilation. */
static bool edit_tapped(ReplModel *m)
{
    if (!m->edits) return true;
    const char *whole = with_edits(m, m->session->arena, jit_text(m->tapped), m->edits);
    return whole && jit_recompile(m->session->arena, m->session->diag, m->tapped, whole);
}

PackedTensor *repl_packed(lua_State *L, const ReplModel *m, const Engine *e, const char *name, int *n)
{
    Arena *a = m->session->arena;
    const Model *model = m->session->model;
    PackedTensor *t = pack_find(a, e->plan, name, n);
    if (t) return t;
    const char **names = arena_array(a, (size_t)model->tensor_count + 1, sizeof *names);
    for (int i = 0; i < model->tensor_count; i++) names[i] = model->tensors[i].name;
    const char *near = diag_nearest(name, names, model->tensor_count);
    luaL_error(L, "%s has no weights '%s' (m:weights() lists all weights)%s", model->name, name, repl_near(L, m, name, near));
    return NULL;
}

void repl_put(lua_State *L, ReplModel *m, Engine *e, const char *name, const float *values)
{
    const int top = lua_gettop(L);
    int n;
    const PackedTensor *t = repl_packed(L, m, e, name, &n);
    for (int i = 0; i < n; i++) pack_put(jit_own_weights(e), &t[i], values);
    lua_settop(L, top);
}

/* "C of argmax, probes" */
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
    if (m->kind == ENGINE_JIT && jit_has_own_weights(repl_tier_jit(m)))
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
    const bool weights = m->kind == ENGINE_JIT && jit_has_own_weights(repl_tier_jit(m));
    const char *edits = m->edits || m->probed ? describe_edits(m, a) : "";
    return weights ? arena_format(a, "%sweights", *edits ? arena_format(a, "%s, ", edits) : "") : edits;
}

bool repl_is_changed(const ReplModel *m)
{
    return m->edits || (m->kind == ENGINE_JIT && jit_has_own_weights(repl_tier_jit(m)));
}

void repl_renew_experiments(lua_State *L, ReplModel *m)
{
    if (m->kind != ENGINE_JIT) return;
    if (m->probed) {
        repl_push_probes(L, m);
        lua_rawsetp(L, LUA_REGISTRYINDEX, m->tapped);
        jit_watch(m->tapped, (JitWatch){ watch, m, true });
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
        repl_put(L, m, m->tapped, name, values);
    }
}

void repl_close_tapped(ReplModel *m)
{
    if (m->tapped) forget_engine(m);
    if (m->tapped) engine_close(m->tapped);
    m->tapped = NULL;
    m->traced = false;
}
