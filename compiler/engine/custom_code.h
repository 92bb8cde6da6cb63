/* custom_code.h: the C of xf.ops, compiled for the generic engine. */
#ifndef CUSTOM_CODE_H
#define CUSTOM_CODE_H

#include "plan.h"

typedef struct CustomCode CustomCode;
typedef void CustomFunction(float *y, const float *const *in, int begin, int end);
/* Compile the xf.ops of a row-major plan; NULL after errors, reported at lines of the user's
 * text. */
CustomCode *custom_compile(Arena *a, Diag *d, const Plan *p);
CustomFunction *custom_of(const CustomCode *c, const PlanOp *op);
void custom_free(CustomCode *c);
/* True if all xf.ops of a graph compile; false after reported errors. */
bool custom_check(Arena *a, Diag *d, const Graph *g);

#endif
