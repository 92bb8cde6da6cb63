/* repl_tier.c: a model runs on the jit at once, and in native code when the compiler in the
 * background is done. */
#include "repl.h"

#include <string.h>

#include "debug.h"
#include "jit.h"
#include "native.h"

void repl_tier_poll(lua_State *L, ReplModel *m)
{
    background_poll(&m->native, false);
    if (m->native.state != BACKGROUND_FAILED || m->reported) return;
    m->reported = true;
    if (repl_of(L)->options->verbose) fprintf(stderr, "note: %s stays on the jit: %s\n", m->session->model->name, m->native.why);
}

void repl_tier_await(lua_State *L, ReplModel *m)
{
    Background *b = &m->native;
    for (background_poll(b, true); b->state == BACKGROUND_WAITS || b->state == BACKGROUND_RUNS; background_poll(b, true)) {
        if (jit_stop_wanted()) luaL_error(L, "interrupted");
        background_sleep();
    }
}

/* Raise the reason why there is no native code. */
static void refuse(lua_State *L, const ReplModel *m)
{
    Diag *d = diag_new(m->session->arena);
    diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "no native code for %s: %s", m->session->model->name, m->native.why);
    repl_raise(L, d);
}

void repl_tier_begin(lua_State *L, ReplModel *m, const char *tier)
{
    /* Debug output of this level shows the operations of the jit. */
    if (tier ? strcmp(tier, "jit") == 0 : debug_level() >= 2) return;
    Arena *const before = repl_memory_home(m);
    background_ask(&m->native, m->session->arena, m->engine, m->session->options.form, m->session->options.threads);
    repl_memory_back(m, before);
    if (tier) repl_tier_await(L, m);
    if (tier && m->native.state != BACKGROUND_DONE) refuse(L, m);
}

void repl_tier_pin(ReplModel *m)
{
    if (m->native.state == BACKGROUND_DONE) native_undo(m->engine, m->session->options.threads);
    m->pinned |= m->native.state != BACKGROUND_NONE;
    background_drop(&m->native);
}

const Engine *repl_tier_jit(const ReplModel *m) { return m->native.state == BACKGROUND_DONE ? native_beneath(m->engine) : m->engine; }

const char *repl_tier_name(const ReplModel *m)
{
    return engine_name(m->native.state == BACKGROUND_DONE ? ENGINE_NATIVE : m->kind);
}

void repl_tier_time(const ReplModel *m)
{
    const Background *b = &m->native;
    switch (b->state) {
    case BACKGROUND_NONE:
        if (m->pinned) printf("%-14s no: changed models run on the jit\n", "native");
        break;
    case BACKGROUND_WAITS:  printf("%-14s is waiting\n", "native"); break;
    case BACKGROUND_RUNS:   printf("%-14s is being compiled\n", "native"); break;
    case BACKGROUND_DONE:   printf("%-14s %9.3f ms\n", b->cached ? "native, cached" : "native", (double)b->took_ns / 1e6); break;
    case BACKGROUND_FAILED: printf("%-14s %s\n", "native", b->why); break;
    }
}
