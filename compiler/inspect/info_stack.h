/* info_stack.h: a bound of the stack that one call of an emitted model takes. */
#ifndef INFO_STACK_H
#define INFO_STACK_H

#include "plan.h"

/* Bytes on one thread, whatever is called and whichever of gcc and clang compiled it. vectors: with kernels of an instruction
 * set; else with those of portable C. What an xf.op puts on the stack is not counted. */
size_t info_stack(Arena *a, const Plan *p, bool vectors);

#endif
