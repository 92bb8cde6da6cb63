/* engine_open.h: open an engine of any kind. */
#ifndef ENGINE_OPEN_H
#define ENGINE_OPEN_H

#include "emit.h"
#include "engine.h"

/* The target of the Plan that an engine of this kind runs. */
PlanTarget engine_target(EngineKind kind);

typedef struct EngineOrder {
    EngineKind kind;
    EmitForm form;                  /* for emitted code */
    const char *cc;  bool cached;   /* for native code: NativeOrder */
    unsigned hooks;                 /* EMIT_*, for the jit; EMIT_POLLS lets native code stop too,
                                     * after a call */
    int threads;                    /* 0: one */
    const Engine *beside;           /* for the generic engine: generic_open */
} EngineOrder;

/* Open an engine on a Plan of its target and start its threads; NULL after a reported error. */
Engine *engine_open(Arena *a, Diag *d, const Plan *p, EngineOrder o);

#endif
