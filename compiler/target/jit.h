/* jit.h: emitted code in memory, compiled by libtcc in about a millisecond. */
#ifndef JIT_H
#define JIT_H

#include "engine.h"

/* Emit, compile in memory, pack the weights unless they are packed already, bind. Of the form, the layers count, and the
 * instruction sets: whose kernels, the first of a list that this processor runs; "native" is the best here. polls: calls end
 * with RT_INTERRUPTED between two blocks after jit_stop. NULL after an error told. */
Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form, bool polls);

/* Stop whatever runs in this process, from a signal handler too; and go on. */
void jit_stop(void);
void jit_go_on(void);

#endif
