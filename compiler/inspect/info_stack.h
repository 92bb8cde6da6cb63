/* info_stack.h: a bound on the stack that one call of an emitted model uses. */
#ifndef INFO_STACK_H
#define INFO_STACK_H

#include "plan.h"

/* Bytes on one thread, for any call, compiled by gcc or clang. vectors: SIMD kernels; else those of
 * portable C. The stack of the C of an xf.op is not counted. */
size_t info_stack(Arena *a, const Plan *p, bool vectors);

#endif
