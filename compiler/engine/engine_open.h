/* engine_open.h: the engines by their kinds. */
#ifndef ENGINE_OPEN_H
#define ENGINE_OPEN_H

#include "emit.h"
#include "engine.h"

/* Which Plan it runs. */
PlanTarget engine_target(EngineKind kind);

typedef struct EngineOrder {
    EngineKind kind;
    EmitForm form;                  /* of emitted code */
    const char *cc;  bool cached;   /* of native code: NativeOrder */
    unsigned hooks;                 /* EMIT_*, of the jit; with EMIT_POLLS native code stops too, between two calls */
    int threads;                    /* 0: one */
} EngineOrder;

/* Open one on a Plan of its target, with its threads started; NULL after a reported error. */
Engine *engine_open(Arena *a, Diag *d, const Plan *p, EngineOrder o);

#endif
