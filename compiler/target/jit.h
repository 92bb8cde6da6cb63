/* jit.h: emitted code in memory, compiled by libtcc in about a millisecond. */
#ifndef JIT_H
#define JIT_H

#include "engine.h"

/* Emit, compile in memory, pack the weights, bind. Of the form, the layers count, and the instruction sets: whose kernels, the
 * first of a list that this processor runs; "native" is the best here. NULL after an error told. */
Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form);

#endif
