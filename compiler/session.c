/* session.c: the passes, in order. Read this first.
 *
 *   spec  -> Model   front/   sizes and choices, checked; where each tensor lies
 *         -> Graph   graph/   pure operations over named tensors
 *         -> Plan    plan/    kernels, layouts, offsets, shares, barriers: one per target
 *         -> C text  target/  emitted, packed, compiled, loaded; or run by the generic engine
 */
#include "session.h"
#include "jit.h"

#include <string.h>
#include <unistd.h>

Session *session_new(const Choices *c)
{
    Arena *a = arena_new();
    Session *s = arena_alloc(a, sizeof *s);
    *s = (Session){ .arena = a, .diag = diag_new(a), .choices = c };
    return s;
}

static bool dumps(const Session *s, char letter) { return s->choices->dumps && strchr(s->choices->dumps, letter); }

/* Rows of one decoder call: what all slots can hold, up to a bound past which a matrix kernel gains no more. */
static int64_t decoder_rows(const Session *s)
{
    enum { MOST_ROWS = 128 };
    int64_t rows = s->model->max_target * (s->choices->slots ? s->choices->slots : 1);
    return rows < MOST_ROWS ? rows : MOST_ROWS;
}

/* Room for lanes in a state; more threads than that are refused. */
enum { STATE_LANES = 16 };

bool session_read(Session *s)
{
    int n;
    const OpName *ops = graph_builder_ops(&n);
    if (s->choices->from) s->model = model_from_lua_with(s->arena, s->diag, s->choices->spec, ops, n, s->choices->from);
    else s->model = (s->sizes_only ? model_sizes_from_lua : model_from_lua)(s->arena, s->diag, s->choices->spec, ops, n);
    if (!s->model) return false;
    if (dumps(s, 'm')) model_dump(s->model, stderr);
    s->graph = graph_build(s->arena, s->diag, s->model, decoder_rows(s));
    if (!s->graph) return false;
    const PlanOptions most = { .target = TARGET_PANELS, .taps = s->choices->taps, .slots = s->choices->slots ? s->choices->slots : 1,
                               .lanes = STATE_LANES };
    if (!plan_fits(s->diag, s->graph, most)) return false;
    if (dumps(s, 'g')) graph_dump(s->graph, stderr);
    return true;
}

Plan *session_plan(Session *s, PlanTarget target, bool taps)
{
    const PlanOptions options = { .target = target, .taps = taps, .slots = s->choices->slots ? s->choices->slots : 1,
                                  .lanes = target == TARGET_PANELS ? STATE_LANES : 1 };
    Plan *p = plan_make(s->arena, s->graph, options);
    if (dumps(s, 'p') || dumps(s, 'k')) plan_dump(p, stderr);
    return p;
}

Engine *session_engine(Session *s, const char *name, const char *cc, bool taps)
{
    const Choices *c = s->choices;
    Engine *e = NULL;
    if (strcmp(name, "generic") == 0) e = generic_open(s->arena, s->diag, session_plan(s, TARGET_ROW_MAJOR, taps));
    else if (strcmp(name, "jit") == 0) e = jit_open(s->arena, s->diag, session_plan(s, TARGET_PANELS, taps), c->isa ? c->isa : "native");
    else {
        const NativeOptions options = { cc ? cc : c->cc, c->isa ? c->isa : "native", c->kernels };
        e = native_open(s->arena, s->diag, session_plan(s, TARGET_PANELS, taps), options);
    }
    if (e && c->threads > 1 && e->ops->threads(e, c->threads) != RT_OK) {
        diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ 0 }, "%d threads cannot be started", c->threads);
        engine_close(e);
        return NULL;
    }
    return e;
}

Exit session_end(Session *s)
{
    diag_print(s->diag, stderr, isatty(2));
    Exit code = diag_exit(s->diag);
    if (s->model) model_close(s->model);
    arena_free(s->arena);
    return code;
}
