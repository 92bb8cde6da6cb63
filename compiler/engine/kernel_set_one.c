/* kernel_set_one.c: all kernels in one translation unit, compiled for one instruction set,
 * KERNEL_SET_NAME. Nothing in it runs unless rt_isa_missing says that the processor has that
 * set. */
#define RT_KERNELS_H                    /* skips kernels.h: it declares external functions; here they are static */
#define RT_KERNEL static inline __attribute__((always_inline))
#include "rt_simd.h"
#define RT_KERNEL_SOURCES
#include "kernel_files.def"

#include "kernel_set.h"

#ifndef KERNEL_SET_NAME
#define KERNEL_SET_NAME portable
#endif
#define SYMBOL_OF(name) kernel_set_##name
#define SYMBOL(name) SYMBOL_OF(name)
#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)

/* Shapes are constants in native code but run-time numbers here. Copies of the kernels that
 * dominate the time of a one-row call, with the most important sizes as constants, win back part of
 * the speed: on a model with 260 thousand parameters the jit went from 0.75 of native speed to
 * 0.88. */
static void linear_by_case(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    RtLinear s = *shape;
#define CASE(width)                                                        \
    case width:                                                            \
        s.in = width;                                                      \
        rt_linear_f32(&s, y, x, w, 1, begin, end);                         \
        return;
    if (rows != 1 || s.activation != RT_IDENTITY) {
        rt_linear_f32(&s, y, x, w, rows, begin, end);
        return;
    }
    s.activation = RT_IDENTITY;
    if (s.has_bias) {
        s.has_bias = 1;
        rt_linear_f32(&s, y, x, w, 1, begin, end);
        return;
    }
    s.has_bias = 0;
    switch (s.in) {
        CASE(32) CASE(64) CASE(128) CASE(256)
    }
    rt_linear_f32(&s, y, x, w, 1, begin, end);
#undef CASE
}

static void linear_gate_by_case(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    RtLinear s = *shape;
#define CASE(width)                                                        \
    case width:                                                            \
        s.in = width, s.has_bias = 0;                                      \
        rt_linear_gate_f32(&s, y, x, w, 1, begin, end);                    \
        return;
    switch (rows == 1 && !s.has_bias ? s.in : 0) {
        CASE(32) CASE(64) CASE(128) CASE(256)
    }
#undef CASE
    rt_linear_gate_f32(shape, y, x, w, rows, begin, end);
}

static void linear_add_by_case(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, int rows, int begin, int end)
{
    RtLinear s = *shape;
#define CASE(width)                                                        \
    case width:                                                            \
        s.in = width, s.has_bias = 0, s.activation = RT_IDENTITY;          \
        rt_linear_add_f32(&s, y, x, w, a, 1, begin, end);                  \
        return;
    switch (rows == 1 && !s.has_bias && s.activation == RT_IDENTITY ? s.in : 0) {
        CASE(32) CASE(64) CASE(128) CASE(256)
    }
#undef CASE
    rt_linear_add_f32(shape, y, x, w, a, rows, begin, end);
}

static void rotary_by_case(const RtRotary *shape, float *y, const float *x, const void *table, const int *positions, int rows,
                           int begin, int end)
{
    RtRotary s = *shape;
#define CASE(head)                                                         \
    case head:                                                             \
        s.dims = s.width = head, s.interleaved = 1;                        \
        rt_rotary_f32(&s, y, x, table, positions, 1, begin, end);          \
        return;
    switch (rows == 1 && s.dims == s.width && s.interleaved ? s.dims : 0) {
        CASE(8) CASE(16) CASE(32) CASE(48) CASE(64) CASE(128)
    }
#undef CASE
    rt_rotary_f32(shape, y, x, table, positions, rows, begin, end);
}

#define CASE(width, function)                                                              \
    case width:                                                                            \
        s.d_k = s.d_v = width, s.softcap = 0;                                              \
        function(&s, out, q, k, v, scratch, NULL, visible, 1, begin, end);                 \
        return;
#define ATTENTION_BY_CASE(name, function, number)                                                                                          \
    static void name(const RtAttention *shape, float *out, const float *q, const number *k, const number *v, float *scratch,               \
                     const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end)                                      \
    {                                                                                                                                      \
        RtAttention s = *shape;                                                                                                            \
        const int plain = rows == 1 && !extra && s.softcap == 0 && s.d_k == s.d_v;                                                         \
        switch (plain ? s.d_k : 0) {                                                                                                       \
            CASE(8, function) CASE(16, function) CASE(32, function) CASE(48, function) CASE(64, function) CASE(128, function)              \
        }                                                                                                                                  \
        function(&s, out, q, k, v, scratch, extra, visible, rows, begin, end);                                                             \
    }
ATTENTION_BY_CASE(attention_by_case, rt_attention_f32, float)
ATTENTION_BY_CASE(attention_f16_by_case, rt_attention_f16, rt_f16)
ATTENTION_BY_CASE(attention_int8_by_case, rt_attention_int8, int8_t)
#undef CASE
#define rt_linear_f32 linear_by_case
#define rt_linear_gate_f32 linear_gate_by_case
#define rt_linear_add_f32 linear_add_by_case
#define rt_attention_f32 attention_by_case
#define rt_attention_f16 attention_f16_by_case
#define rt_attention_int8 attention_int8_by_case
#define rt_rotary_f32 rotary_by_case

extern const KernelSet SYMBOL(KERNEL_SET_NAME);
const KernelSet SYMBOL(KERNEL_SET_NAME) = {
    STRING(KERNEL_SET_NAME), RT_ISA_BUILT,
    {
#define RT_KERNEL_ROW(operation, format, file, function, parameters) { #function, (KernelFunction *)function },
#define RT_KERNEL_FORMAT RT_KERNEL_ROW
#define RT_KERNEL_CACHE RT_KERNEL_ROW
#include "kernels.def"
#undef RT_KERNEL_ROW
    },
};
