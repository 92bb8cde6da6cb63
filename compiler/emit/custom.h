/* custom.h: the C of xf.ops: as functions in the emitted text.
 *
 * The C is the body of a function over rows of its result. In sight are, for y and for every input x: a pointer, and as
 * constants x_rows, x_columns and x_stride, the floats from row to row; the attributes as floats; begin and end, the rows of
 * y that this thread computes; and rt_plain.h. */
#ifndef CUSTOM_H
#define CUSTOM_H

#include "emit.h"

/* "scale: x [3, 4] -> y [3, 4]; by 2": for a comment. */
const char *custom_doc(Arena *a, const PlanOp *op);
/* Everything between the braces. `dense`: parameters lie as in a spec, not as packed; `placed`: its lines are those of the
 * user's text, in a file called "op:NAME". */
const char *custom_body(Arena *a, const PlanOp *op, bool dense, bool placed);
/* needs: a wrapper of KERNEL_CUSTOM. */
void custom_function(Text *out, const Wrapper *w);

/* What such a function takes. */
void custom_parameters(Text *out, const CustomOp *c);

#endif
