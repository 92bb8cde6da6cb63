/* engine_open.c: an engine of a kind, with its threads. */
#include "engine_open.h"

#include "debug.h"
#include "jit.h"
#include "native.h"

PlanTarget engine_target(EngineKind kind) { return kind == ENGINE_GENERIC ? TARGET_ROW_MAJOR : TARGET_PANELS; }

static Engine *open_kind(Arena *a, Diag *d, const Plan *p, EngineOrder o)
{
    const NativeOrder native = { o.cc, o.form, o.cached, (o.hooks & EMIT_POLLS) != 0 };
    switch (o.kind) {
    case ENGINE_ANY: break;
    case ENGINE_NATIVE:  return native_open(a, d, p, native);
    case ENGINE_JIT:     return jit_open(a, d, p, o.form, o.hooks | (debug_level() >= 2 ? EMIT_WATCHES : 0));
    case ENGINE_GENERIC: return generic_open(a, d, p);
    }
    die("no engine was named");
}

/* False after an error told. */
static bool start_threads(Diag *d, Engine *e, int threads)
{
    const PlanOptions *o = &e->plan->options;
    if (threads <= 1 || e->ops->threads(e, threads) == RT_OK) return true;
    if (threads > o->lanes && o->target == TARGET_PANELS)
        diag_error(d, EXIT_USAGE, (Loc){ 0 }, "--threads %d: a state has room for %d; see --lanes", threads, o->lanes);
    else diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%d threads cannot be started", threads);
    return false;
}

Engine *engine_open(Arena *a, Diag *d, const Plan *p, EngineOrder o)
{
    Engine *e = open_kind(a, d, p, o);
    if (!e || start_threads(d, e, o.threads)) return e;
    engine_close(e);
    return NULL;
}
