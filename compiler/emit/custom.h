/* custom.h: the C of xf.ops as functions of the emitted text.
 *
 * The C is the body of a function over rows of the result y. In scope are: for y and each input x,
 * a pointer and the constants x_rows, x_columns and x_stride (floats from row to row); the
 * attributes as floats; begin and end, the rows of y that this thread computes; and rt_plain.h. */
#ifndef CUSTOM_H
#define CUSTOM_H

#include "emit.h"

/* "scale: x [3, 4] -> y [3, 4]; by 2": for a comment. */
const char *custom_doc(Arena *a, const PlanOp *op);
/* The text between the braces of the function. `dense`: parameters are row-major as in the spec,
 * not packed. `placed`: #line gives the user's lines their numbers in the spec, in a file called
 * "op:NAME". */
const char *custom_body(Arena *a, const PlanOp *op, bool dense, bool placed);
/* Emit the function. needs: a wrapper of KERNEL_CUSTOM. */
void custom_function(Text *out, const Wrapper *w);

/* Emit the parameters of the function of an xf.op. */
void custom_parameters(Text *out, const CustomOp *c);

#endif
