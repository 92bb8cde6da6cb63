/* jit.h: emitted code in memory, compiled by libtcc in about a millisecond. */
#ifndef JIT_H
#define JIT_H

#include "emit.h"
#include "engine.h"

/* Emit, compile in memory, pack the weights unless they are packed already, bind. Of the form, layers and tuning count, and the
 * instruction sets: whose kernels, the first of a list that this processor runs; "native" is the best here. hooks: of
 * EMIT_*; with EMIT_POLLS calls end with RT_INTERRUPTED between two blocks after jit_stop. NULL after a reported error. */
Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form, unsigned hooks);

/* Where a run is: an operation has just been done. rows: of the block; source, target: lengths by then;
 * ns: how long it took. */
typedef struct JitAt { const PlanBlock *block; const PlanOp *op; int layer, rows, source, target; int64_t ns; } JitAt;
/* How long a dimension of a tensor is then. */
int64_t jit_length(const JitAt *at, Dim d);
/* What is called then; `call` NULL: nothing. each_row: calls of several rows are made row by row, so that every row has its taps.
 * The engine must have been opened with EMIT_WATCHES. */
typedef struct JitWatch { void (*call)(void *user, Engine *e, const JitAt *at); void *user; bool each_row; } JitWatch;
void jit_watch(Engine *e, JitWatch watch);

/* The C that runs, and another in its place: state and weights stay. False after a reported error, and then the old one runs. */
const char *jit_text(const Engine *e);
bool jit_recompile(Arena *a, Diag *d, Engine *e, const char *text);
/* The packed data that is used, by an engine of emitted code; as a copy of this engine's own, to be changed; and the shared data again. */
const unsigned char *jit_weights(const Engine *e);
unsigned char *jit_own_weights(Engine *e);
void jit_shared_weights(Engine *e);
bool jit_has_own_weights(const Engine *e);

/* Stop whatever runs in this process, from a signal handler too; and go on. */
void jit_stop(void);
bool jit_stop_wanted(void);
void jit_go_on(void);
/* From a signal handler, when a stop has no effect: leave emitted code wherever it is, so that its call ends with RT_INTERRUPTED. False
 * where none runs on this thread, or it runs on several threads; else it does not return. */
bool jit_leave(void);

#endif
