/* repl_model.c: compiled models at the prompt: m("text"), m:run{…}, m:reset(), m:names(),
 * m:at("name"), m:wait(), m:close(), and members such as m.name. */
#include "repl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "file.h"
#include "jit.h"

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void close_model(ReplModel *m)
{
    if (!m->session) return;
    background_drop(&m->native);
    if (m->engine) engine_close(m->engine);
    if (m->tapped) engine_close(m->tapped);
    repl_forget_edits(m);
    repl_memory_free(m);
    session_free(m->session);
    arena_free(m->look.arena);
    *m = (ReplModel){ .session = NULL };
}

/* Read the spec at `index`, a value or a path, into m->session. */
static bool take_spec(lua_State *L, int index, ReplModel *m)
{
    const Draft *draft = spec_at(L, index);
    if (draft) return session_take(m->session, draft);
    m->session->options.spec = arena_text(m->session->arena, luaL_checkstring(L, index));
    return session_read(m->session);
}

ReplModel *repl_compile(lua_State *L, int index, int options)
{
    index = lua_absindex(L, index);
    if (!spec_at(L, index) && lua_type(L, index) != LUA_TSTRING)
        luaL_error(L, "xf.compile: expected a spec or the path of one, found %s", repl_found(L, index));
    ReplModel *m = lua_newuserdatauv(L, sizeof *m, 1);
    lua_pushvalue(L, index);
    lua_setiuservalue(L, -2, 1);         /* the spec */
    CompileOptions chosen = { .hooks = EMIT_POLLS, .cached = true, .allow_c = repl_of(L)->options->allow_c };
    *m = (ReplModel){ .kind = ENGINE_JIT };
    luaL_setmetatable(L, REPL_MODEL_TYPE);
    const char *tier = repl_compile_options(L, options, m, &chosen);
    const int64_t begin = clock_now_ns();
    m->session = session_new(&chosen);
    if (!take_spec(L, index, m) || !(m->engine = session_engine(m->session, m->kind, false))) {
        Diag *d = m->session->diag;
        if (jit_stop_wanted()) luaL_error(L, "interrupted");
        repl_raise(L, d);
        luaL_error(L, "the model was not compiled");
    }
    m->open_ns = clock_now_ns() - begin;
    if (!m->quiet) diag_print(m->session->diag, stderr, diag_colours(2));
    repl_tier_begin(L, m, tier);
    repl_remember(L);
    return m;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void push_trace_tensor(lua_State *L, const TraceTensor *t) { repl_push_tensor(L, t->name, t->rank, t->shape, t->values); }

/* Push a table of a trace's outputs by name. */
static void push_outputs(lua_State *L, const ReplModel *m, const Trace *t)
{
    lua_newtable(L);
    if (!m->session->model->graph) {
        push_trace_tensor(L, &t->tensors[t->count - 1]);
        lua_setfield(L, -2, t->tensors[t->count - 1].name);
        return;
    }
    const GraphSpec *spec = m->session->model->graph;
    for (int i = 0; i < spec->count; i++) {
        const TraceTensor *o = strcmp(spec->calls[i].op, "output") == 0 ? trace_find(t, spec->calls[i].name) : NULL;
        if (!o) continue;
        push_trace_tensor(L, o);
        lua_setfield(L, -2, o->name);
    }
}

/* Set the inputs of a graph from the table at `index`. */
static void set_inputs(lua_State *L, ReplModel *m, Engine *e, int index)
{
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        const Tensor *input = NULL;
        for (int i = 0; i < m->session->graph->tensor_count; i++) {
            const Tensor *t = m->session->graph->tensors[i];
            if (t->kind == TENSOR_INPUT && !t->integer && strcmp(t->name, name) == 0) input = t;
        }
        if (!input) luaL_error(L, "the graph has no input '%s'", name);
        int64_t shape[MAX_RANK];
        for (int r = 0; r < input->rank; r++) shape[r] = input->dim[r].bound;
        const char *what = lua_pushfstring(L, "input %s", name);
        lua_insert(L, -2);
        const float *values = repl_shaped(L, -1, m->look.arena, what, input->rank, shape);
        const char *fault = graph_value_fault(m->look.arena, input, values);
        if (fault) luaL_error(L, "%s", fault);
        engine_set_input(e, name, values);
        lua_remove(L, -2);
    }
}

/* Run a graph on its inputs. A graph with caches continues its sequence; once no more rows fit, an
 * error is raised, and the last run can still be inspected. */
static void run_graph(lua_State *L, ReplModel *m)
{
    if (!lua_isnoneornil(L, 3))
        luaL_error(L, "m:run([inputs]): unexpected argument 2, %s; %s is a graph",
                   repl_described(L, 3), m->session->model->name);
    Engine *e = repl_tapped(L, m);
    if (!look_has_room(m->session, e)) repl_model_fail(L, m);
    repl_begin_question(m, (Look){ .engine = e });
    if (m->session->graph->step_rows) engine_inputs(e);
    else engine_reset(e);
    if (!lua_isnoneornil(L, 2)) {
        luaL_checktype(L, 2, LUA_TTABLE);
        set_inputs(L, m, e, 2);
    }
    if (!look_graph(&m->look)) repl_model_fail(L, m);
}

/* For an encoder-decoder, generate an answer to the ids unless the decoder's input is given. Then
 * trace the ids, with the answer or that input if there is one. */
static void run_ids(lua_State *L, ReplModel *m)
{
    const Model *model = m->session->model;
    Look *l = &m->look;
    int n, k = 0;
    repl_begin_question(m, (Look){ .engine = NULL });
    int *ids = repl_read_ids(L, m, l->arena, 2, model->has_encoder ? model->source_vocab : model->target_vocab, look_most_ids(model), &n);
    int *fed = lua_isnoneornil(L, 3) ? NULL : repl_read_ids(L, m, l->arena, 3, model->target_vocab, model->max_target, &k);
    const bool both = model->has_encoder && model->has_decoder;
    if (fed && !both) luaL_error(L, "%s takes one list of ids", model->name);
    l->engine = both && !fed ? repl_answering(L, m) : NULL;
    if (l->engine) engine_reset(l->engine);
    if (fed) l->question = (Question){ .source = ids, .n = n, .fed = fed, .written = fed, .m = k };
    else if (!look_answer(l, ids, n)) {
        repl_check_probes(L);
        repl_model_fail(L, m);
    }
    repl_check_probes(L);
    l->engine = repl_tapped_for(L, m, l->question.n, l->question.m);
    engine_reset(l->engine);
    if (!look_trace(l)) {
        repl_check_probes(L);
        repl_check_status(L, l->trace->status);
    }
}

/* m:run{ ids }; m:run({ source }, { target }) for an encoder-decoder; m:run{ X = … } for a graph:
 * push the outputs. Without a target, an encoder-decoder generates one. */
static int run_model(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    if (m->session->model->graph) run_graph(L, m);
    else run_ids(L, m);
    repl_check_probes(L);
    m->asked = m->traced = true;
    push_outputs(L, m, m->look.trace);
    return 1;
}

/* m:reset(): reset the caches and the inputs of a graph that has caches. */
static int reset(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    if (!m->session->graph->step_rows)
        return luaL_error(L, "%s has nothing to reset: only a graph with g.cache keeps state",
                          m->session->model->name);
    engine_reset(m->engine);
    if (m->tapped) engine_reset(m->tapped);
    m->asked = m->traced = false;
    return 0;
}

/* m("text"), m("first", "second"): the answer; m{ ids }: like m:run. */
static int call_model(lua_State *L) { return lua_type(L, 2) == LUA_TSTRING ? repl_answer(L) : run_model(L); }

/* ---- looking ----------------------------------------------------------------------------------------------------- */

/* m:names(): the names that m:at accepts, in order of execution. */
static int names(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const Trace *t = trace_names(repl_scratch(L), repl_looked(m));
    lua_createtable(L, t->count, 0);
    for (int i = 0; i < t->count; i++) {
        lua_pushstring(L, t->tensors[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int at(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const char *name = luaL_checkstring(L, 2);
    const Trace *t = repl_traced(L, m);
    const TraceTensor *found = trace_find(t, name);
    if (!found) {
        const char **all = arena_array(m->look.arena, (size_t)t->count + 1, sizeof *all);
        for (int i = 0; i < t->count; i++) all[i] = t->tensors[i].name;
        const char *near = diag_nearest(name, all, t->count);
        return luaL_error(L, "%s has no tensor '%s' (m:names() lists all tensors)%s", m->session->model->name, name, repl_near(L, m, name, near));
    }
    push_trace_tensor(L, found);
    return 1;
}

/* m:wait(): wait until native code is ready or has failed; push the tier. */
static int wait_native(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    repl_tier_await(L, m);
    repl_tier_poll(L, m);
    return lua_pushstring(L, repl_tier_name(m)), 1;
}

/* ---- the value --------------------------------------------------------------------------------------------------- */

static int describe(lua_State *L)
{
    ReplModel *m = luaL_checkudata(L, 1, REPL_MODEL_TYPE);
    if (!m->session) return lua_pushliteral(L, "a closed model"), 1;
    repl_tier_poll(L, m);
    const Model *model = m->session->model;
    const Plan *p = m->engine->plan;
    char size[160];
    snprintf(size, sizeof size, "%s, %s: %lld parameters, weights %.1f KiB, state %.1f KiB, compiled in %.2f ms", model->name,
             m->engine->name, (long long)model_parameters(model), (double)p->weights_bytes / 1024, (double)p->state_bytes / 1024,
             (double)m->open_ns / 1e6);
    lua_pushstring(L, size);
    const char *changes = repl_changes(m);
    if (*changes) lua_pushfstring(L, "; changed: %s", changes);
    else lua_pushliteral(L, "");
    lua_concat(L, 2);
    return 1;
}

static int close_value(lua_State *L)
{
    ReplModel *m = luaL_checkudata(L, 1, REPL_MODEL_TYPE);
    if (m->running) luaL_error(L, "%s is busy: a probe, or a function given to m:edit, cannot query, change or close it", m->session->model->name);
    m->L = L;
    if (m->session) repl_forget_probes(m);
    close_model(m);
    return 0;
}

static int member_name(lua_State *L, ReplModel *m) { return lua_pushstring(L, m->session->model->name), 1; }
static int member_parameters(lua_State *L, ReplModel *m) { return lua_pushinteger(L, model_parameters(m->session->model)), 1; }
static int member_state_bytes(lua_State *L, ReplModel *m) { return lua_pushinteger(L, (lua_Integer)m->engine->plan->state_bytes), 1; }
static int member_compile_ms(lua_State *L, ReplModel *m) { return lua_pushnumber(L, (double)m->open_ns / 1e6), 1; }

static int member_spec(lua_State *L, ReplModel *m)
{
    (void)m;
    return lua_getiuservalue(L, 1, 1), 1;
}

static int member_tier(lua_State *L, ReplModel *m)
{
    repl_tier_poll(L, m);
    return lua_pushstring(L, repl_tier_name(m)), 1;
}

static const struct { const char *name; int (*push)(lua_State *L, ReplModel *m); } members[] = {
    { "name", member_name }, { "tier", member_tier }, { "parameters", member_parameters }, { "state_bytes", member_state_bytes },
    { "compile_ms", member_compile_ms }, { "spec", member_spec },
};
enum { MEMBERS = sizeof members / sizeof *members };

static int index_model(lua_State *L)
{
    ReplModel *m = luaL_checkudata(L, 1, REPL_MODEL_TYPE);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    for (int i = 0; i < MEMBERS; i++) {
        if (strcmp(members[i].name, key) != 0) continue;
        if (!m->session) return luaL_error(L, "the model was closed");
        return members[i].push(L, m);
    }
    if (lua_getfield(L, lua_upvalueindex(1), key) != LUA_TNIL) return 1;
    return luaL_error(L, "a model has no '%s'; see ?model", luaL_tolstring(L, 2, NULL));
}

void repl_push_methods(lua_State *L)
{
    luaL_getmetatable(L, REPL_MODEL_TYPE);
    lua_getfield(L, -1, "__methods");
    lua_remove(L, -2);
}

void repl_open_model(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "run", run_model, "inputs numbers?, target numbers?" }, { "reset", reset, "" },
        { "names", names, "" }, { "at", at, "name text" }, { "wait", wait_native, "" },
        { "close", close_value, "" }, { NULL, NULL, NULL }
    };
    static const ReplFunction calls[] = {
        { "__call", call_model, "question text|numbers?, second text|numbers?, options table?" },
        { NULL, NULL, NULL }
    };
    static const luaL_Reg meta[] = {
        { "__tostring", describe }, { "__gc", close_value }, { "__close", close_value }, { NULL, NULL }
    };
    luaL_newmetatable(L, REPL_MODEL_TYPE);
    luaL_setfuncs(L, meta, 0);
    repl_set_functions(L, "m:", calls);
    lua_newtable(L);
    repl_set_functions(L, "m:", methods);
    repl_add_answers(L);
    repl_add_attention(L);
    repl_add_measures(L);
    repl_add_verify(L);
    repl_add_experiments(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_newtable(L);
    for (int i = 0; i < MEMBERS; i++) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, members[i].name);
    }
    lua_setfield(L, -3, "__members");       /* for completion */
    lua_pushcclosure(L, index_model, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
