/* repl_memory.c: the arenas of a model at the prompt. A model lives long and gets many calls, so a
 * call, a trace and the taps have arenas that are freed earlier. */
#include "repl.h"

static Arena *renew(Arena **a)
{
    arena_free(*a);
    return *a = arena_new();
}

/* Until the first call, the session's arena is the model's own. */
static Arena *home(ReplModel *m)
{
    if (!m->memory.home) m->memory.home = m->session->arena;
    return m->memory.home;
}

void repl_memory_begin(ReplModel *m)
{
    home(m);
    m->session->arena = renew(&m->memory.call);
    m->session->diag = diag_new(m->session->arena);
}

static Arena *within(ReplModel *m, Arena *a)
{
    Arena *before = m->session->arena;
    m->session->arena = a;
    return before;
}

Arena *repl_memory_trace(ReplModel *m) { return renew(&m->memory.trace); }
Arena *repl_memory_taps(ReplModel *m) { return within(m, renew(&m->memory.taps)); }
Arena *repl_memory_home(ReplModel *m) { return within(m, home(m)); }
void repl_memory_back(ReplModel *m, Arena *before) { m->session->arena = before; }

void repl_memory_free(ReplModel *m)
{
    Arena *const others[] = { m->memory.call, m->memory.trace, m->memory.taps };
    m->session->arena = home(m);
    for (int i = 0; i < 3; i++) arena_free(others[i]);
}
