/* repl_calls.c: what calls of a model's methods need: the model, its engine with taps, a question,
 * ids, a trace. */
#include "repl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jit.h"

ReplModel *repl_check_model(lua_State *L)
{
    ReplModel *m = luaL_testudata(L, 1, REPL_MODEL_TYPE);
    if (!m) luaL_error(L, "expected a model, found %s; call methods with a colon: m:names()", repl_found(L, 1));
    if (!m->session) luaL_error(L, "the model was closed");
    if (m->running) luaL_error(L, "%s is busy: a probe, or a function given to m:edit, cannot query, change or close it", m->session->model->name);
    m->L = L;
    repl_memory_begin(m);
    repl_tier_poll(L, m);
    return m;
}

static Engine *open_tapped(lua_State *L, ReplModel *m, bool brief, int64_t source, int64_t target)
{
    repl_close_tapped(m);
    m->session->options.hooks = EMIT_POLLS | (m->probed ? EMIT_WATCHES : 0);
    Arena *const before = repl_memory_taps(m);
    m->tapped = brief ? session_engine_for(m->session, m->kind, source, target) : session_engine(m->session, m->kind, true);
    repl_memory_back(m, before);
    if (!m->tapped) repl_model_fail(L, m);
    m->brief = brief;
    repl_renew_experiments(L, m);
    return m->tapped;
}

Engine *repl_tapped(lua_State *L, ReplModel *m)
{
    return m->tapped && !m->brief ? m->tapped : open_tapped(L, m, false, 0, 0);
}

/* The length rounded up to a power of 2, at least 64, so that few engines are opened. */
static int64_t roomy(int64_t length)
{
    int64_t room = 64;
    while (room < length) room *= 2;
    return room;
}

Engine *repl_tapped_for(lua_State *L, ReplModel *m, int64_t source, int64_t target)
{
    if (m->tapped && !m->brief) return m->tapped;
    if (m->probed || repl_is_changed(m) || !session_taps_are_large(m->session)) return repl_tapped(L, m);
    const Model *of = m->tapped ? m->tapped->plan->graph->model : NULL;
    if (of && source <= of->max_source && target <= of->max_target) return m->tapped;
    return open_tapped(L, m, true, roomy(source), roomy(target));
}

const Plan *repl_looked(ReplModel *m)
{
    if (m->tapped) return m->tapped->plan;
    if (m->looked) return m->looked;
    Arena *const before = repl_memory_home(m);
    m->looked = session_plan(m->session, engine_target(m->kind), true);
    repl_memory_back(m, before);
    return m->looked;
}

static void bad_id(lua_State *L, const ReplModel *m, double number, int vocabulary)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", number);
    luaL_error(L, "id %s is not in the vocabulary of %s (0 to %d)", text, m->session->model->name, vocabulary - 1);
}

void repl_begin_question(ReplModel *m, Look look)
{
    arena_free(m->look.arena);
    m->look = look;
    m->look.session = m->session;
    m->look.arena = arena_new();
    m->asked = m->traced = false;
}

int *repl_read_ids(lua_State *L, const ReplModel *m, Arena *a, int index, int64_t vocabulary, int64_t most, int *n)
{
    int64_t count;
    const float *numbers = repl_numbers(L, index, a, &count);
    if (!count) luaL_error(L, "no ids were given");
    if (count > most) luaL_error(L, "%d ids, but at most %d fit", (int)count, (int)most);
    int *ids = arena_array(a, (size_t)count, sizeof *ids);
    const bool of_source = index == 2 && m->session->model->has_encoder;
    for (int64_t i = 0; i < count; i++) {
        if (numbers[i] != floorf(numbers[i]) || numbers[i] < 0 || numbers[i] >= (float)vocabulary)
            bad_id(L, m, (double)numbers[i], (int)vocabulary);
        ids[i] = (int)numbers[i];
        if (of_source && ids[i] == m->session->model->pad_id)
            luaL_error(L, "token %d is the padding id, %d, which this model cannot read", (int)i + 1, ids[i]);
    }
    *n = (int)count;
    return ids;
}

const Trace *repl_traced(lua_State *L, ReplModel *m)
{
    if (m->asked && m->traced) return m->look.trace;
    const Question *q = &m->look.question;
    const bool graph = m->session->model->graph != NULL;
    if (!graph && !m->asked)
        luaL_error(L, "there is nothing to inspect yet: call m(\"text\") or m:run{ ids } first");
    Engine *e = graph ? repl_tapped(L, m) : repl_tapped_for(L, m, q->n, q->m);
    if (graph && !m->asked) repl_begin_question(m, (Look){ .engine = e });
    m->look.engine = e;
    if (!graph) engine_reset(e);
    /* Repeat the last step. */
    else if (m->asked && *engine_position(e)) *engine_position(e) -= (int32_t)m->session->graph->step_rows;
    Look l = m->look;
    l.arena = repl_memory_trace(m);
    const bool good = graph ? look_graph(&l) : look_trace(&l);
    m->look.trace = l.trace;
    repl_check_probes(L);
    if (!good) repl_model_fail(L, m);
    m->asked = m->traced = true;
    return m->look.trace;
}
