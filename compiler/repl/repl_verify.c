/* repl_verify.c: compare a model at the prompt with the generic engine or a reference. The
 * model keeps its question and sequences. */
#include "repl.h"

#include <string.h>

#include "verify.h"

ReplPause repl_pause(lua_State *L, Engine *e)
{
    const size_t bytes = e->plan->state_bytes;
    ReplPause p = { e, arena_alloc(repl_scratch(L), bytes) };
    memcpy(p.state, e->state, bytes);
    return p;
}

void repl_resume(const ReplModel *m, const ReplPause *p)
{
    memcpy(p->engine->state, p->state, p->engine->plan->state_bytes);
    if (m->session->options.threads > 1) p->engine->ops->threads(p->engine, m->session->options.threads);
}

/* m:verify(): compare the model with the generic engine, which gets the same changed weights;
 * m:verify("reference.safetensors"): compare both with a reference. Prints the table, and pushes
 * true if all agree. */
static int verify(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    Session *s = m->session;
    const char *path = luaL_optstring(L, 2, NULL);
    if (path && !verify_reference_fits(s->arena, s->diag, s->model, path)) return repl_model_fail(L, m);
    VerifyEngine e[2] = { { repl_tapped(L, m), m->engine, 1 }, { NULL, NULL, 0 } };
    const ReplPause pauses[] = { repl_pause(L, m->engine), repl_pause(L, m->tapped) };
    e[1].tapped = session_engine(s, ENGINE_GENERIC, true);
    if (!e[1].tapped) return repl_model_fail(L, m);
    const char *different = repl_share_changes(L, m, e[1].tapped);
    if (different) fprintf(stderr, "note: %s was changed: %s; the generic engine runs without these changes\n", s->model->name, different);
    const VerifyOptions o = { .against = path, .seed = 1, .threads = 1 };
    Exit found = verify_run(s->arena, s->diag, s->model, e, 2, &o, stdout);
    engine_close(e[1].tapped);
    for (int i = 0; i < 2; i++) repl_resume(m, &pauses[i]);
    repl_check_probes(L);
    if (diag_errors(s->diag)) return repl_model_fail(L, m);
    lua_pushboolean(L, found == EXIT_DONE);
    return 1;
}

void repl_add_verify(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "verify", verify, "file text?" }, { NULL, NULL, NULL }
    };
    repl_set_functions(L, "m:", methods);
}
