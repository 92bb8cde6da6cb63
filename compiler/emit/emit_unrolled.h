/* emit_unrolled.h: shared by the files that write kernels in plain C. Returned texts live in the
 * arena of e. */
#ifndef EMIT_UNROLLED_H
#define EMIT_UNROLLED_H

#include "emit.h"

/* A function whose body is emitted. r0 .. p1: C expressions for its rows and parts. */
typedef struct UnrolledBody {
    Emit *e;
    Text *out;
    const Wrapper *w;
    const PlanOp *op;
    const char *parameters, *r0, *r1, *p0, *p1;
} UnrolledBody;

/* Terms of a sum per iteration of its loop. They are added in order, so no bit of the sum depends
 * on their number. */
int unrolled_terms(const Emit *e);
/* The number a[index], converted to a float if it is an f16; dtype: KV_DTYPES_* of keys and values,
 * else KV_DTYPES_F32. */
const char *unrolled_number(Emit *e, int dtype, const char *index);
/* a[16 * i + c] in the same way. */
const char *unrolled_row_number(Emit *e, int dtype, int64_t i);
/* sum[c] += a[16 * i + c] * of[i], for i from 0 to terms - 1; the loop advances `a`. dtype as in
 * unrolled_number. */
const char *unrolled_sum(Emit *e, const char *sum, const char *of, int64_t terms, int dtype);

/* Emit the body of a store, of attention, or of attention with a window. */
void unrolled_store(const UnrolledBody *b);
void unrolled_attention(const UnrolledBody *b);
void unrolled_window(const UnrolledBody *b);

#endif
