/* engine_open.c: open an engine of any kind, with its threads. */
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
    case ENGINE_GENERIC: return generic_open(a, d, p, o.beside);
    }
    die("no engine was named");
}

Engine *engine_open(Arena *a, Diag *d, const Plan *p, EngineOrder o)
{
    Engine *e = open_kind(a, d, p, o);
    if (!e || o.threads <= 1 || engine_start_threads(d, e, o.threads)) return e;
    engine_close(e);
    return NULL;
}
