/* jit.h: the engine that compiles emitted C in memory with libtcc, in milliseconds. */
#ifndef JIT_H
#define JIT_H

#include "emit.h"
#include "engine.h"

/* Emit, compile in memory, pack the weights unless they are already packed, and bind them. Only
 * layers, tuning and isa of the form are used: the engine takes the kernels of the first
 * instruction set in isa that this processor runs and that has a kernel set; "native" means the
 * best one. hooks: EMIT_*. With EMIT_POLLS, jit_stop makes a running call return RT_INTERRUPTED
 * between two blocks. Returns NULL after a reported error. */
Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form, unsigned hooks);

/* A point in a run: operation `op` has just finished. rows: rows in the block. source, target:
 * lengths so far. ns: how long the operation took. */
typedef struct JitAt { const PlanBlock *block; const PlanOp *op; int layer, rows, source, target; int64_t ns; } JitAt;
/* The length of a tensor's dimension at that point. */
int64_t jit_length(const JitAt *at, Dim d);
/* Watch an engine: call `call` after each operation; NULL stops watching. each_row: run calls of
 * several rows row by row, so that every row has its taps. The engine must have been opened with
 * EMIT_WATCHES. */
typedef struct JitWatch { void (*call)(void *user, Engine *e, const JitAt *at); void *user; bool each_row; } JitWatch;
void jit_watch(Engine *e, JitWatch watch);

/* jit_text: the C that runs. jit_recompile: replace it, keeping state and weights. False after a
 * reported error; then the old C keeps running. */
const char *jit_text(const Engine *e);
bool jit_recompile(Arena *a, Diag *d, Engine *e, const char *text);
/* jit_weights: the packed data that an engine of emitted code uses. jit_own_weights: give this
 * engine its own copy, which may be changed. jit_shared_weights: drop the copy and use the shared
 * data again. */
const unsigned char *jit_weights(const Engine *e);
unsigned char *jit_own_weights(Engine *e);
void jit_shared_weights(Engine *e);
bool jit_has_own_weights(const Engine *e);

/* Make every running call of an engine that polls return RT_INTERRUPTED as soon as it polls, and
 * every later call, until jit_go_on. jit_stop may be called from a signal handler. */
void jit_stop(void);
bool jit_stop_wanted(void);
void jit_go_on(void);
/* Call this from a signal handler when a stop has no effect: it jumps out of the emitted code,
 * wherever that is executing, and the call of that code returns RT_INTERRUPTED. Returns false if
 * this thread is not running code of the jit, or is in a watch, or if several threads run the code.
 * Otherwise it does not return. */
bool jit_leave(void);

#endif
