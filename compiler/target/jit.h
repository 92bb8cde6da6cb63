/* jit.h: emitted code in memory, compiled by libtcc in about a millisecond. */
#ifndef JIT_H
#define JIT_H

#include "engine.h"

/* isa: whose kernels; NULL or "native" for the best here. polls: calls end with RT_INTERRUPTED between two blocks after
 * jit_stop. */
typedef struct JitOptions { const char *isa; bool polls; } JitOptions;

/* Emit, compile in memory, pack the weights unless they are packed already, bind. NULL after an error told. */
Engine *jit_open(Arena *a, Diag *d, const Plan *p, JitOptions options);

/* Stop whatever runs in this process, from a signal handler too; and go on. */
void jit_stop(void);
void jit_go_on(void);

#endif
