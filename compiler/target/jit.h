/* jit.h: emitted code in memory, compiled by libtcc in about a millisecond. */
#ifndef JIT_H
#define JIT_H

#include "engine.h"

/* Emit, compile in memory, pack the weights, bind. `isa`: whose kernels; "native" for the best here. NULL after an error
 * told. */
Engine *jit_open(Arena *a, Diag *d, const Plan *p, const char *isa);

#endif
